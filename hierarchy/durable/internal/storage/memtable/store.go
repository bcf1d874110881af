package memtable

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Store is the connection of one process to a Table.
type Store struct {
	table *Table

	mu      sync.Mutex
	fault   func(Call) Fault
	cut     bool
	held    bool
	paused  bool
	running chan struct{} // closed and replaced when a state that watches wait for may have changed
}

var _ storage.Table = (*Store)(nil)

// SetFault sets the function that returns the fault of each call.
func (s *Store) SetFault(f func(Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// set changes one of the states, and wakes goroutines that wait for a change.
func (s *Store) set(state *bool, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*state = on
	close(s.running)
	s.running = make(chan struct{})
}

// Cut makes all calls and answers get lost, and stops watches, until it is called with false.
func (s *Store) Cut(on bool) { s.set(&s.cut, on) }

// Hold stops watches until it is called with false. Nothing is lost.
func (s *Store) Hold(on bool) { s.set(&s.held, on) }

// Pause keeps calls from beginning and returning, even when their contexts are done, as in a process that is stopped,
// until it is called with false.
func (s *Store) Pause(on bool) { s.set(&s.paused, on) }

// Mute makes all present watches send nothing any more.
func (s *Store) Mute() {
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	for _, w := range s.table.watches {
		if w.store == s {
			w.mute()
		}
	}
}

// isCut reports whether calls and answers are lost.
func (s *Store) isCut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// standstill returns nil if watches may send, otherwise a channel that is closed when that may have changed.
func (s *Store) standstill() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut || s.held || s.paused {
		return s.running
	}
	return nil
}

// waitWhilePaused waits until the process is not paused.
func (s *Store) waitWhilePaused() {
	for {
		s.mu.Lock()
		paused, running := s.paused, s.running
		s.mu.Unlock()
		if !paused {
			return
		}
		<-running
	}
}

// begin returns the fault of a call.
func (s *Store) begin(c Call) (f Fault) {
	s.waitWhilePaused()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		f = s.fault(c)
	}
	if s.cut {
		f.Drop = true
	}
	return f
}

// call carries a call out, with its faults.
func (s *Store) call(ctx context.Context, f Fault, do func() answer) answer {
	defer s.waitWhilePaused()
	if err := ctx.Err(); err != nil {
		return answer{err: err}
	}
	answers := make(chan answer, 1)
	arrive := func() {
		a := do()
		if f.Err != nil {
			a = answer{err: f.Err}
		}
		if f.Lose {
			return
		}
		after(f.After, func() {
			if !s.isCut() {
				answers <- a
			}
		})
	}
	switch {
	case f.Drop && f.Err != nil:
		return answer{err: f.Err}
	case f.Drop:
		<-ctx.Done()
		return answer{err: ctx.Err()}
	}
	after(f.Before, arrive)
	select {
	case a := <-answers:
		return a
	default:
	}
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
		return answer{err: ctx.Err()}
	}
}

// after calls f after d, or at once if d is 0.
func after(d time.Duration, f func()) {
	if d == 0 {
		f()
		return
	}
	time.AfterFunc(d, f)
}

// write implements Put and Delete.
func (s *Store) write(ctx context.Context, op string, r storage.Record, last uint64) (uint64, error) {
	f := s.begin(Call{op, r.Key})
	a := s.call(ctx, f, func() (a answer) {
		a.record.Revision, a.err = s.table.put(r, last)
		return a
	})
	return a.record.Revision, a.err
}

func (s *Store) Put(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	return s.write(ctx, "put", storage.Record{Key: key, Value: slices.Clone(value)}, last)
}

func (s *Store) Delete(ctx context.Context, key string, last uint64) error {
	_, err := s.write(ctx, "delete", storage.Record{Key: key, Deleted: true}, last)
	return err
}

func (s *Store) Get(ctx context.Context, key string) (storage.Record, error) {
	f := s.begin(Call{"get", key})
	a := s.call(ctx, f, func() (a answer) {
		t := s.table
		t.mu.Lock()
		defer t.mu.Unlock()
		a.record, a.err = t.get(key, t.before(f.Behind))
		return a
	})
	return a.record, a.err
}
