package service

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// feed passes events on to those who follow them. It waits for none of them.
type feed struct {
	mu      sync.Mutex
	readers map[*Reader]struct{}
	follows atomic.Bool // there are some
	here    int         // readers that are no relay
	held    map[string]*held
}

// held has the events of a key that wait for the answer to a call that changes the timer or ends its attempt: the next
// attempt may begin before.
type held struct {
	calls  int
	events []*Event
}

// maxHeld is the number of events of a key that wait.
const maxHeld = 100

// add adds a reader of events of keys with a prefix.
func (f *feed) add(prefix string, relay bool) *Reader {
	r := &Reader{prefix: prefix, relay: relay, signal: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == nil {
		f.readers = make(map[*Reader]struct{})
	}
	f.readers[r] = struct{}{}
	f.follows.Store(true)
	if !relay {
		f.here++
	}
	return r
}

// remove removes a reader.
func (f *feed) remove(r *Reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.readers[r]; ok && !r.relay {
		f.here--
	}
	delete(f.readers, r)
	f.follows.Store(len(f.readers) > 0)
}

// isRead reports whether there is a reader that is no relay.
func (f *feed) isRead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.here > 0
}

// pass passes on what has happened here or, if others is true, at another server: events, and how many are missing after
// them.
func (f *feed) pass(others bool, missed int, events ...*Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !others {
		events = slices.DeleteFunc(events, f.hold)
	}
	f.put(others, missed, events)
}

// passNow passes on what a call has changed, before the events that wait for it.
func (f *feed) passNow(e *Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(false, 0, []*Event{e})
}

// put is pass with f.mu held.
func (f *feed) put(others bool, missed int, events []*Event) {
	for r := range f.readers {
		if !others || !r.relay {
			r.put(missed, events)
		}
	}
}

// hold reports whether an event has to wait, and has it wait.
func (f *feed) hold(e *Event) bool {
	h := f.held[e.Key]
	if h == nil || len(h.events) == maxHeld {
		return false
	}
	h.events = append(h.events, e)
	return true
}

// release passes on the events of a key that have waited, at the end of the last call that changes the timer.
func (f *feed) release(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.held[key]
	if h.calls--; h.calls == 0 {
		delete(f.held, key)
		f.put(false, 0, h.events)
	}
}

// Changing has the events of attempts of a timer wait until the returned function is called, since a call is about to
// change it, and tells so only when it has its answer.
func (s *Service) Changing(key string) (done func()) {
	f := &s.feed
	if !s.Followed() {
		return func() {}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		f.held = make(map[string]*held)
	}
	if f.held[key] == nil {
		f.held[key] = new(held)
	}
	f.held[key].calls++
	return func() { f.release(key) }
}

// Follow returns a reader of events of keys with a prefix, at all servers. When Follow returns, the other servers that
// answer have begun to send theirs. Leave must be called.
func (s *Service) Follow(ctx context.Context, prefix string) *Reader {
	r := s.feed.add(prefix, false)
	if s.peers != nil {
		s.peers.follow(ctx)
	}
	return r
}

// Leave ends a Follow.
func (s *Service) Leave(r *Reader) {
	s.feed.remove(r)
	if s.peers != nil {
		s.peers.unfollow(false)
	}
}

// Followed reports whether anybody follows what happens at this server.
func (s *Service) Followed() bool { return s.feed.follows.Load() }

// Tell tells those who follow what a call has changed. id may be zero if it is not known.
func (s *Service) Tell(kind, key string, id durable.ID) { s.tellNow(kind, key, id, 0, nil) }

func (s *Service) tellNow(kind, key string, id durable.ID, attempt int, err error) {
	if s.Followed() {
		s.feed.passNow(eventOf(kind, key, id, attempt, err))
	}
}

// tell tells those who follow what has happened to an attempt, after what Changing has wait.
func (s *Service) tell(kind, key string, id durable.ID, attempt int, err error) {
	if s.Followed() {
		s.feed.pass(false, 0, eventOf(kind, key, id, attempt, err))
	}
}

// tellEnd tells how an attempt has ended.
func (s *Service) tellEnd(a *Attempt, result error) {
	s.tell(endOf(result), a.Key, a.ID, a.Attempt, result)
}
