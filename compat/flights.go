package compat

import (
	"sync"

	"golang.org/x/sync/singleflight"
)

// flights are the fetches that Take has under way, one for a key at most that may
// be shared and kept.
type flights struct {
	group singleflight.Group

	mu    sync.Mutex
	inAir map[string]*flight // guarded by mu
}

// flight is one fetch.
type flight struct{ _ byte } // not empty, so that each has an address of its own

// do calls fetch, or waits for the one that is called for key already.
func (f *flights) do(key string, fetch func(*flight) (any, error)) (any, error) {
	value, err, _ := f.group.Do(key, func() (any, error) {
		own := f.takeOff(key)
		defer f.land(key, own, func() {})
		return fetch(own)
	})
	return value, err
}

func (f *flights) takeOff(key string) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inAir == nil {
		f.inAir = make(map[string]*flight)
	}
	own := new(flight)
	f.inAir[key] = own
	return own
}

// land ends own, and calls keep unless it was disowned or has landed.
//
// It is not shared from then on, though its do has not returned yet: what it has
// fetched may be deleted in between, and must not be given to who asks after that.
func (f *flights) land(key string, own *flight, keep func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inAir[key] == own {
		delete(f.inAir, key)
		f.group.Forget(key)
		keep()
	}
}

// disown calls change, which changes the value of key, and has the fetch that is
// under way for it, if there is one, not kept, and not shared by those who ask
// from now on. None takes off or lands meanwhile: it would not be disowned, and
// might keep what is older, or share what it has found before the change.
func (f *flights) disown(key string, change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.inAir[key]; ok {
		delete(f.inAir, key)
		f.group.Forget(key)
	}
	change()
}
