package service

import (
	"sync"
	"sync/atomic"
)

// watched remembers what was announced of the keys of requests in progress: a timer that is due at once may have ended
// before the request can be answered with it.
type watched struct {
	n    atomic.Int64 // how many keys there are, so that nobody else pays for it
	mu   sync.Mutex
	keys map[string]*Watch
}

// Watch is the latest announcement of a key.
type Watch struct {
	of    *watched
	key   string
	users int
	last  Firing
	seen  bool
}

// Watch begins to remember the announcements of a key in this process. Stop has to be called.
func (s *Service) Watch(key string) *Watch {
	w := &s.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.keys[key]
	if one == nil {
		one = &Watch{of: w, key: key}
		if w.keys == nil {
			w.keys = make(map[string]*Watch)
		}
		w.keys[key] = one
		w.n.Add(1)
	}
	one.users++
	return one
}

// Last returns the latest announcement.
func (one *Watch) Last() (Firing, bool) {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	return one.last, one.seen
}

// Stop ends it.
func (one *Watch) Stop() {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(one.of.keys, one.key)
		one.of.n.Add(-1)
	}
}

// announced remembers an announcement.
func (w *watched) announced(f *Firing) {
	if w.n.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.keys[f.Key]; one != nil {
		one.last, one.seen = *f, true
	}
}
