package compat

import (
	"errors"
	"sync"
)

// errNotReturned is the error of callers that waited for a fetch that did not return.
var errNotReturned = errors.New("compat: a concurrent fetch of the same key panicked or called runtime.Goexit")

// flights are the fetches of Take that are under way. At most one per key is current:
// later calls for that key wait for it, and its value is kept.
//
// It is not golang.org/x/sync/singleflight, because there a fetch that panics makes
// all callers that wait for it panic, and one that calls runtime.Goexit ends their
// goroutines, too.
type flights struct {
	mu      sync.Mutex
	current map[string]*flight // guarded by mu; by key
}

// flight is one fetch.
type flight struct {
	ended sync.WaitGroup
	value any   // not written after ended
	err   error // not written after ended; errNotReturned until fetch has returned
}

// do calls fetch, or waits for the current fetch of key. If fetch panics, the panic
// passes through do to its caller.
func (f *flights) do(key string, fetch func(*flight) (any, error)) (any, error) {
	one, begun := f.begin(key)
	if !begun {
		one.ended.Wait()
		return one.value, one.err
	}
	defer one.ended.Done() // those that wait must not hang, however fetch ends
	defer f.finish(key, one, func() {})
	one.value, one.err = fetch(one)
	return one.value, one.err
}

// begin makes a flight for key and begun is true, unless a flight is current for key:
// then begin returns that one.
func (f *flights) begin(key string) (one *flight, begun bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.current[key]; ok {
		return one, false
	}
	if f.current == nil {
		f.current = make(map[string]*flight)
	}
	one = &flight{err: errNotReturned}
	one.ended.Add(1)
	f.current[key] = one
	return one, true
}

// finish ends the flight one. If it was current, finish calls keep.
//
// It is called before do returns: once the fetched value is kept, it may be deleted at
// any time, and a call that begins after that must not wait for this flight and return
// its value.
func (f *flights) finish(key string, one *flight, keep func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current[key] == one {
		delete(f.current, key)
		keep()
	}
}

// forget forgets the current flight of key, if there is one, and calls change, which
// changes the value of key. What was fetched may be older than the change, so it is
// returned only to the callers that already wait. It is not kept.
//
// The lock is held during change, so that no flight begins or finishes between the two
// steps.
func (f *flights) forget(key string, change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.current, key)
	change()
}
