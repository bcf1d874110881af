package compat

import (
	"errors"
	"sync"
)

// errNotReturned is what callers get that waited for a fetch that did not return.
var errNotReturned = errors.New("compat: a concurrent fetch of the same key panicked or called runtime.Goexit")

// flights are the fetches that calls of Take have begun and that have not ended. At
// most one for each key is current: further calls for that key wait for it, and its
// value is kept.
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

// do calls fetch, or waits for the one that is current for key. A panic of fetch
// passes through do to its caller.
func (f *flights) do(key string, fetch func(*flight) (any, error)) (any, error) {
	one, own := f.join(key)
	if !own {
		one.ended.Wait()
		return one.value, one.err
	}
	defer one.ended.Done() // those that wait must not hang, however fetch ends
	defer f.finish(key, one, func() {})
	one.value, one.err = fetch(one)
	return one.value, one.err
}

// join returns the flight that is current for key, or makes one: then own is true.
func (f *flights) join(key string) (one *flight, own bool) {
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

// finish makes one no longer current, and calls keep if it was.
//
// It is called before do returns. Once the fetched value is kept, it may be deleted at
// any time, and a call that begins after that must not join this flight and return it.
func (f *flights) finish(key string, one *flight, keep func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current[key] == one {
		delete(f.current, key)
		keep()
	}
}

// disown calls change, which changes the value of key. If a fetch is current for key,
// it is not any more: its value, which may be older than the change, goes to the
// callers that wait already, and is neither kept nor shared with further ones.
//
// The lock is held during change, so that no fetch can begin or finish between the
// two steps.
func (f *flights) disown(key string, change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.current, key)
	change()
}
