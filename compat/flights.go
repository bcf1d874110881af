package compat

import (
	"errors"
	"sync"
)

// errNotReturned is the error of callers that waited for a fetch that did not return.
var errNotReturned = errors.New("compat: a concurrent fetch of the same key panicked or called runtime.Goexit")

// flights are the calls of Take's fetch that have not returned. Each key has at most one current flight. Later calls of
// Take for the key wait for the current flight, and the value that it fetches is kept.
//
// It is not golang.org/x/sync/singleflight. There, a fetch that panics makes all waiting callers panic, and a fetch
// that calls runtime.Goexit ends their goroutines, too.
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
func (fs *flights) do(key string, fetch func(*flight) (any, error)) (any, error) {
	f, begun := fs.begin(key)
	if !begun {
		f.ended.Wait()
		return f.value, f.err
	}
	defer f.ended.Done() // the callers that wait must not hang, however fetch ends
	defer fs.finish(key, f, func() {})
	f.value, f.err = fetch(f)
	return f.value, f.err
}

// begin returns the current flight of key. If there is none, it makes one and begun is
// true: then the caller calls fetch.
func (fs *flights) begin(key string) (f *flight, begun bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.current[key]; ok {
		return f, false
	}
	if fs.current == nil {
		fs.current = make(map[string]*flight)
	}
	f = &flight{err: errNotReturned}
	f.ended.Add(1)
	fs.current[key] = f
	return f, true
}

// finish ends f. If f was current, finish calls keep.
//
// finish is called before do returns. Once the fetched value is kept, it may be deleted at any time. A call of Take
// that begins after the deletion must not wait for f and return its value.
func (fs *flights) finish(key string, f *flight, keep func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.current[key] == f {
		delete(fs.current, key)
		keep()
	}
}

// forget forgets the current flight of key, if there is one, and calls change, which
// changes the value of key. What was fetched may be older than the change, so it is
// returned only to the callers that already wait. It is not kept.
//
// The lock is held during change, so that no flight begins or finishes between forgetting the flight and changing the
// value.
func (fs *flights) forget(key string, change func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.current, key)
	change()
}
