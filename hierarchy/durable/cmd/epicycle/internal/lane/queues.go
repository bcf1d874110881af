package lane

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// Queues holds timers that wait until a worker takes them. Each queue has a lock of its own, so that no queue holds up
// another one. NewQueues makes one.
type Queues struct {
	mu     sync.Mutex // guards queues. It may be locked while the lock of a queue is held
	queues map[string]*queue
	gate   *Gate
	ended  chan struct{} // closed by Stop
	end    sync.Once
}

type queue struct {
	name string
	n    atomic.Int64 // waiting.len(), for Lens

	mu      sync.Mutex
	waiting place
	takers  []*taker // in the order of their arrival
	gone    bool     // the queue was empty, and is not in Queues any more
}

// taker is a waiting call of Wait.
type taker struct {
	prefix string
	woken  chan string // of capacity 1: gets the key for which the taker is woken
}

// NewQueues returns a Queues, from which timers are taken as gate allows.
func NewQueues(gate *Gate) *Queues {
	return &Queues{queues: make(map[string]*queue), gate: gate, ended: make(chan struct{})}
}

// lock returns the queue with that name, with its lock held. If there is none, it makes one, or returns nil.
func (q *Queues) lock(name string, make bool) *queue {
	for {
		q.mu.Lock()
		one := q.queues[name]
		if one == nil && make {
			one = q.newQueue(name)
			q.queues[name] = one
		}
		q.mu.Unlock()
		if one == nil {
			return nil
		}
		one.mu.Lock()
		if !one.gone {
			return one
		}
		one.mu.Unlock()
	}
}

// unlock is called after each lock. It removes a queue that has neither timers nor takers.
func (q *Queues) unlock(one *queue) {
	defer one.mu.Unlock()
	one.n.Store(int64(one.waiting.len()))
	if one.waiting.len() == 0 && len(one.takers) == 0 {
		one.gone = true
		q.gate.forget(&one.waiting)
		q.mu.Lock()
		delete(q.queues, one.name)
		q.mu.Unlock()
	}
}

// Push adds a timer to a queue. It does not block.
func (q *Queues) Push(name string, d Due) {
	one := q.lock(name, true)
	defer q.unlock(one)
	one.waiting.push(d)
	one.wakeFor(d.Key)
}

// Remove removes the timer of a key from a queue, if it has that ID.
func (q *Queues) Remove(name, key string, id durable.ID) {
	if one := q.lock(name, false); one != nil {
		defer q.unlock(one)
		one.waiting.remove(key, id)
	}
}

func (q *Queues) newQueue(name string) *queue {
	one := &queue{name: name}
	one.waiting.gate, one.waiting.scopes = q.gate, []limits.Scope{{Kind: limits.Queue, Name: name}}
	one.waiting.turn = func(r *rule) bool { return q.turn(one, r) }
	return one
}

// wakeFor wakes the first taker that may have a key, unless limits have its timer wait.
func (one *queue) wakeFor(key string) {
	i := slices.IndexFunc(one.takers, func(t *taker) bool { return strings.HasPrefix(key, t.prefix) })
	if i >= 0 && one.waiting.mayTry(key) {
		one.wake(i, key)
	}
}

// wake wakes a taker for a key.
func (one *queue) wake(i int, key string) {
	t := one.takers[i]
	one.takers = slices.Delete(one.takers, i, i+1)
	t.woken <- key
}

// turn wakes the first taker for whom there is a timer, and reports whether there is one.
func (q *Queues) turn(one *queue, r *rule) bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	for i, t := range one.takers {
		if key, ok := one.waiting.ready(t.prefix); ok {
			one.wake(i, key)
			q.gate.again(&one.waiting, r) // there may be further workers
			return true
		}
	}
	return false
}

// Pop removes the first timer of a queue whose key has the prefix, of those that limits let be tried now. The attempt has
// begun, for these limits, until End is called.
func (q *Queues) Pop(name, prefix string) (d Due, pass Pass, ok bool) {
	one := q.lock(name, false)
	if one == nil {
		return d, nil, false
	}
	defer q.unlock(one)
	return one.waiting.pop(prefix)
}

// Wait waits until there may be a timer for Pop whose key has the prefix. It returns false if ctx is done or Stop is
// called first. If it returns a key, it was woken for the timer of that key, and the caller must call Pass after Pop.
func (q *Queues) Wait(ctx context.Context, name, prefix string) (key string, ok bool) {
	t := &taker{prefix, make(chan string, 1)}
	if q.join(name, t) {
		return "", ctx.Err() == nil
	}
	select {
	case key = <-t.woken:
		return key, true
	case <-ctx.Done():
	case <-q.ended:
	}
	q.leave(name, t)
	return "", false
}

// join makes a taker wait, unless it reports that there is a timer for it.
func (q *Queues) join(name string, t *taker) bool {
	one := q.lock(name, true)
	defer q.unlock(one)
	if _, ok := one.waiting.ready(t.prefix); ok {
		return true
	}
	one.takers = append(one.takers, t)
	return false
}

// leave removes a taker that does not wait any more. If that taker was woken meanwhile, leave wakes another one
// instead.
func (q *Queues) leave(name string, t *taker) {
	if one := q.lock(name, false); one != nil {
		defer q.unlock(one)
		if i := slices.Index(one.takers, t); i >= 0 {
			one.takers = slices.Delete(one.takers, i, i+1)
			return
		}
		one.pass(<-t.woken)
	}
}

// Pass wakes another taker for the timer of a key if that still waits, since the taker that was woken for it has popped
// others, or none.
func (q *Queues) Pass(name, key string) {
	if one := q.lock(name, false); one != nil {
		defer q.unlock(one)
		one.pass(key)
	}
}

func (one *queue) pass(key string) {
	if one.waiting.hasKey(key) {
		one.wakeFor(key)
	}
}

// Has reports whether there is a timer for Pop whose key has the prefix.
func (q *Queues) Has(name, prefix string) bool {
	one := q.lock(name, false)
	if one == nil {
		return false
	}
	defer q.unlock(one)
	_, ok := one.waiting.ready(prefix)
	return ok
}

// Stop ends all calls of Wait.
func (q *Queues) Stop() { q.end.Do(func() { close(q.ended) }) }
