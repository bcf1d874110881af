package memtable

import (
	"context"
	"slices"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// watch is one watch of a Store.
type watch struct {
	store *Store
	out   chan storage.Change
	more  wait.Signal // set when there are changes in queue

	mu    sync.Mutex
	queue []storage.Change
	muted bool
}

func (s *Store) Watch(ctx context.Context) (<-chan storage.Change, error) {
	f := s.begin(Call{Op: "watch"})
	w := &watch{store: s, out: make(chan storage.Change), more: wait.NewSignal()}
	a := s.call(ctx, f, func() answer {
		w.begin(f.Behind)
		return answer{}
	})
	if a.err != nil {
		w.mute() // the watch may begin late
		w.end()
		return nil, a.err
	}
	go w.run(ctx)
	return w.out, nil
}

// begin queues the records of the table, possibly as they were some changes ago. Then the later changes follow.
func (w *watch) begin(behind uint64) {
	t := w.store.table
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.before(behind)
	for _, r := range t.snapshot(before) {
		w.add(storage.Change{Record: r})
	}
	w.add(storage.Change{All: true})
	for _, r := range t.log {
		if r.Revision > before {
			w.add(storage.Change{Record: r})
		}
	}
	t.watches = append(t.watches, w)
}

func (w *watch) end() {
	t := w.store.table
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches = slices.DeleteFunc(t.watches, func(v *watch) bool { return v == w })
}

func (w *watch) add(c storage.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.muted {
		return
	}
	c.Value = slices.Clone(c.Value)
	w.queue = append(w.queue, c)
	w.more.Set()
}

func (w *watch) mute() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted, w.queue = true, nil
}

// next takes the first change from the queue.
func (w *watch) next() (c storage.Change, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return c, false
	}
	c, w.queue = w.queue[0], w.queue[1:]
	return c, true
}

// run sends the changes to the reader.
func (w *watch) run(ctx context.Context) {
	defer close(w.out)
	defer w.end()
	for ctx.Err() == nil {
		if still := w.store.standstill(); still != nil {
			select {
			case <-still:
			case <-ctx.Done():
			}
			continue
		}
		c, ok := w.next()
		if !ok {
			select {
			case <-w.more:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case w.out <- c:
		case <-ctx.Done():
		}
	}
}
