package service

import (
	"sync"
	"sync/atomic"
)

// watched remembers what was announced for the keys of requests in progress: a timer that is due at once may have ended
// before the request can be answered with it.
type watched struct {
	n    atomic.Int64 // the number of keys, so that announcements cost nothing when there are none
	mu   sync.Mutex
	keys map[string]*Watch
}

// Watch holds the latest announcement of a key.
type Watch struct {
	of    *watched
	key   string
	users int
	last  Firing
	seen  bool
}

// Watch begins to remember the announcements of a key in this process. Stop must be called later.
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

// Stop ends the watch.
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
