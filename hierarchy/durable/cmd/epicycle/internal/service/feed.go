package service

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Event is what has happened to a timer.
type Event struct {
	Kind    string    `json:"event"`
	At      time.Time `json:"at"`
	Key     string    `json:"key,omitempty"`
	ID      string    `json:"id,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// The kinds of events.
const (
	EventSet     = "set"
	EventMoved   = "moved" // or revived
	EventRemoved = "removed"
	EventBegun   = "begun"
	EventDone    = "done"
	EventFailed  = "failed" // it is tried again
	EventDead    = "dead"   // it is not tried again
)

// EventKinds are all kinds.
var EventKinds = []string{EventSet, EventMoved, EventRemoved, EventBegun, EventDone, EventFailed, EventDead}

// cost returns about how many bytes an event takes.
func (e *Event) cost() int { return 150 + len(e.Key) + len(e.ID) + len(e.Error) }

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

// Reader has the events that one follower has not read yet.
type Reader struct {
	prefix string
	relay  bool // it is for other servers, and gets no events of these
	signal chan struct{}

	mu     sync.Mutex
	events []*Event
	size   int // bytes of events
	missed int // after them
}

// maxUnread limits the bytes of the events that a follower has not read.
const maxUnread = 512 << 10

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

func (r *Reader) put(missed int, events []*Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		switch {
		case !strings.HasPrefix(e.Key, r.prefix):
		case r.missed > 0, r.size+e.cost() > maxUnread: // those that are missing are missing in one place
			r.missed++
		default:
			r.events = append(r.events, e)
			r.size += e.cost()
		}
	}
	r.missed += missed
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// Read waits for events, and returns how many are missing after them. It returns the error of ctx when that is done.
func (r *Reader) Read(ctx context.Context) (events []*Event, missed int, err error) {
	for {
		r.mu.Lock()
		events, missed = r.events, r.missed
		r.events, r.size, r.missed = nil, 0, 0
		r.mu.Unlock()
		if len(events) > 0 || missed > 0 {
			return events, missed, nil
		}
		select {
		case <-r.signal:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
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

func eventOf(kind, key string, id durable.ID, attempt int, err error) *Event {
	e := &Event{Kind: kind, At: time.Now().UTC(), Key: key, Attempt: attempt}
	if id != (durable.ID{}) {
		e.ID = id.String()
	}
	if err != nil {
		e.Error = shortened(err.Error(), maxEventError)
	}
	return e
}

// maxEventError limits the text of an error in an event, as the log limits it.
const maxEventError = 1 << 10

// shortened returns the beginning of a text, of no more than some bytes, or the text.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// endOf returns the kind of the event of an attempt that has ended.
func endOf(result error) string {
	switch {
	case result == nil:
		return EventDone
	case isFinal(result):
		return EventDead
	}
	return EventFailed
}

// tellEnd tells how an attempt has ended.
func (s *Service) tellEnd(a *Attempt, result error) {
	s.tell(endOf(result), a.Key, a.ID, a.Attempt, result)
}
