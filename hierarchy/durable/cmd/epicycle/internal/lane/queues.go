package lane

import (
	"context"
	"sync"
)

// Queues holds timers that wait until a worker takes them. NewQueues makes one.
type Queues struct {
	waits  func(Due) bool
	mu     sync.Mutex
	queues map[string]*queue
	ended  chan struct{} // closed by Stop
}

type queue struct {
	waiting waiting
	takers  []*taker // in the order of their arrival
}

// taker is a waiting call of Wait.
type taker struct {
	allows func(key string) bool
	woken  chan string // of capacity 1: gets the key for which the taker is woken
}

// NewQueues returns a Queues. waits reports whether a timer still waits for its attempt.
func NewQueues(waits func(Due) bool) *Queues {
	return &Queues{waits: waits, queues: make(map[string]*queue), ended: make(chan struct{})}
}

// queue returns the queue with that name. mu is held.
func (q *Queues) queue(name string) *queue {
	one := q.queues[name]
	if one == nil {
		one = new(queue)
		q.queues[name] = one
	}
	return one
}

// tidy removes a queue that has neither timers nor takers. mu is held.
func (q *Queues) tidy(name string, one *queue) {
	if one.waiting.len() == 0 && len(one.takers) == 0 {
		delete(q.queues, name)
	}
}

// Push adds a timer to a queue. It does not block.
func (q *Queues) Push(name string, d Due) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.queue(name)
	one.waiting.push(d, q.waits)
	one.wake(d.Key)
}

// wake wakes the first taker that may have a key.
func (one *queue) wake(key string) {
	for i, t := range one.takers {
		if t.allows == nil || t.allows(key) {
			one.takers = append(one.takers[:i:i], one.takers[i+1:]...)
			t.woken <- key
			return
		}
	}
}

// Pop removes the first timer of a queue whose key is allowed.
func (q *Queues) Pop(name string, allows func(key string) bool) (d Due, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.queues[name]
	if one == nil {
		return d, false
	}
	d, ok = one.waiting.pop(allows)
	q.tidy(name, one)
	return d, ok
}

// Wait waits until there may be a timer for Pop whose key is allowed. It returns false if ctx is done or Stop is
// called first. If it returns a key, it was woken for the timer of that key, and the caller must call Pass after Pop.
func (q *Queues) Wait(ctx context.Context, name string, allows func(key string) bool) (key string, ok bool) {
	t := &taker{allows, make(chan string, 1)}
	q.mu.Lock()
	one := q.queue(name)
	if one.has(allows) {
		q.mu.Unlock()
		return "", ctx.Err() == nil
	}
	one.takers = append(one.takers, t)
	q.mu.Unlock()
	select {
	case key = <-t.woken:
		return key, true
	case <-ctx.Done():
	case <-q.ended:
	}
	q.leave(name, one, t)
	return "", false
}

// has reports whether a timer waits whose key is allowed.
func (one *queue) has(allows func(key string) bool) bool {
	for _, it := range one.waiting.order {
		if allows == nil || allows(it.Key) {
			return true
		}
	}
	return false
}

// leave removes a taker that does not wait any more. If that taker was woken meanwhile, leave wakes another one
// instead.
func (q *Queues) leave(name string, one *queue, t *taker) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range one.takers {
		if other == t {
			one.takers = append(one.takers[:i:i], one.takers[i+1:]...)
			q.tidy(name, one)
			return
		}
	}
	q.pass(name, <-t.woken)
}

// Pass wakes another taker for the timer of a key if that still waits, since the taker that was woken for it has popped
// others, or none.
func (q *Queues) Pass(name, key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass(name, key)
}

// pass is Pass. mu is held.
func (q *Queues) pass(name, key string) {
	if one := q.queues[name]; one != nil && one.waiting.keys[key] != nil {
		one.wake(key)
	}
}

// Has reports whether a timer waits whose key is allowed.
func (q *Queues) Has(name string, allows func(key string) bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.queues[name]
	return one != nil && one.has(allows)
}

// Stop ends all calls of Wait.
func (q *Queues) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.ended:
	default:
		close(q.ended)
	}
}

// Len returns the number of timers that wait in each queue.
func (q *Queues) Len() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	lens := make(map[string]int, len(q.queues))
	for name, one := range q.queues {
		lens[name] = one.waiting.len()
	}
	return lens
}
