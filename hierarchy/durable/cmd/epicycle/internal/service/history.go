package service

import (
	"container/list"
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Tried is an attempt that has ended.
type Tried struct {
	At     time.Time     `json:"at"`   // when it began
	Took   time.Duration `json:"took"` // how long it took
	Status int           `json:"status,omitempty"`
	Error  string        `json:"error,omitempty"`
}

// history has the last attempts of timers: of each timer a few, and of the timers those that were tried last. It is in
// memory alone, of the server that owns the timer.
type history struct {
	most int // bytes, immutable

	mu     sync.Mutex
	timers map[string]*list.Element // of *past, by key
	recent list.List                // of *past, the one that was tried last at the front
	size   int                      // bytes of all
}

// past has the last attempts of a timer.
type past struct {
	key string
	series
	tried []tried // the last one last
}

// series tells which attempts are of the same timer: those with an ID or, as each run has its own, with a schedule.
type series struct {
	id       durable.ID
	schedule uint64
}

// tried is an attempt in few bytes.
type tried struct {
	at, took int64
	status   int
	text     string
}

const (
	maxTried = 5
	// maxReason limits the text of an error, so that no timer has more than 1 KiB. The log has all of the last one.
	maxReason = 160
	triedSize = 40
	pastSize  = 250      // of a timer without its key and its attempts, about
	maxPast   = 16 << 20 // of all timers
)

func newHistory() *history { return &history{most: maxPast, timers: make(map[string]*list.Element)} }

var seed = maphash.MakeSeed()

func seriesOf(id durable.ID, schedule durable.Schedule) series {
	if text := schedule.String(); text != "" {
		return series{schedule: maphash.String(seed, text)}
	}
	return series{id: id}
}

// add adds the last attempt of a timer, and forgets what there is no room for.
func (h *history) add(key string, s series, one Tried) {
	one.Error = shortened(one.Error, maxReason)
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.timers[key]
	if e == nil {
		e = h.recent.PushFront(&past{key: key, series: s})
		h.timers[key] = e
		h.size += pastSize + len(key)
	}
	h.recent.MoveToFront(e)
	p := e.Value.(*past)
	h.size -= p.size()
	if p.series != s {
		p.series, p.tried = s, nil
	}
	p.tried = append(p.tried, tried{one.At.UnixNano(), int64(one.Took), one.Status, one.Error})
	if n := len(p.tried); n > maxTried {
		p.tried = append(p.tried[:0], p.tried[n-maxTried:]...)
	}
	for h.size += p.size(); h.size > h.most; {
		h.remove(h.recent.Back())
	}
}

// size returns the bytes of the attempts.
func (p *past) size() (n int) {
	for i := range p.tried {
		n += triedSize + len(p.tried[i].text)
	}
	return n
}

func (h *history) remove(e *list.Element) {
	p := e.Value.(*past)
	h.recent.Remove(e)
	delete(h.timers, p.key)
	h.size -= pastSize + len(p.key) + p.size()
}

// drop forgets a timer that has ended.
func (h *history) drop(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.timers[key]; e != nil {
		h.remove(e)
	}
}

// of returns the last attempts of a timer, the last one first.
func (h *history) of(key string, s series) (all []Tried) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.timers[key]
	if e == nil || e.Value.(*past).series != s {
		return nil
	}
	some := e.Value.(*past).tried
	for i := len(some) - 1; i >= 0; i-- {
		one := &some[i]
		all = append(all, Tried{time.Unix(0, one.at).UTC(), time.Duration(one.took), one.status, one.text})
	}
	return all
}

// Attempts returns the last attempts of a timer, the last one first, as far as the server that owns it remembers them.
func (s *Service) Attempts(ctx context.Context, e *Entry) []Tried {
	switch {
	case e.Attempt == 0 && e.Schedule.String() == "":
		return nil
	case s.peers == nil || s.Owns(e.Key):
		return s.history.of(e.Key, seriesOf(e.ID, e.Schedule))
	}
	return s.peers.attempts(ctx, e)
}

// ended remembers how an attempt of this server has ended, unless its timer was changed meanwhile.
func (s *Service) ended(a *Attempt, begun time.Time, status int, err error) {
	if err == nil && a.Schedule.String() == "" {
		s.history.drop(a.Key)
		return
	}
	one := Tried{At: begun, Took: time.Since(begun), Status: max(0, status)}
	if err != nil {
		one.Error = err.Error()
	}
	s.history.add(a.Key, seriesOf(a.ID, a.Schedule), one)
}

// endedElsewhere remembers how an attempt has ended that was ended by its token, by a request to any of the servers.
func (s *Service) endedElsewhere(a *Attempt, begun time.Time) {
	if context.Cause(a.Context()) == durable.ErrLeft || !s.Owns(a.Key) {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, lineTime)
	defer cancel()
	e, ok, err := s.Lookup(ctx, a.Key)
	switch mine := seriesOf(a.ID, a.Schedule); {
	case err != nil:
	case !ok:
		s.history.drop(a.Key)
	case seriesOf(e.ID, e.Schedule) != mine || e.ID == a.ID && e.LastFailed.IsZero(): // it was set or moved
	case e.LastFailed.IsZero() || e.LastFailed.Before(begun):
		s.history.add(a.Key, mine, Tried{At: begun, Took: time.Since(begun)})
	default:
		s.history.add(a.Key, mine, Tried{At: begun, Took: e.LastFailed.Sub(begun), Error: e.LastError})
	}
}
