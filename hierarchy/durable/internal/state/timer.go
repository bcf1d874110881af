package state

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// Timer is a copy of a timer in the state.
type Timer struct {
	Key, Value string
	ID         frame.ID
	Due        int64
	Attempt    uint32 // the number of the last attempt that is in the log
	Home       uint64
	Wall       bool
	Dead       bool
	Running    bool  // whether an attempt is in progress; only Listed sets it
	Next       int64 // when the next attempt is due, if the timer waits for it after an attempt; only Listed sets it
	Extra
}

// Timer returns the timer of a record.
func (s *State) Timer(ref Ref) Timer {
	r := s.records.at(uint32(ref))
	return Timer{Key: r.key(), Value: r.value(), ID: r.id, Due: r.due, Attempt: r.attempt, Home: r.home, Wall: r.wall,
		Dead: r.state == dead, Extra: s.extra(uint32(ref))}
}

// Find returns the timer of a key, dead or not.
func (s *State) Find(key []byte) (t Timer, ref Ref, ok bool) {
	i, _ := s.find(key)
	if i == 0 {
		return t, 0, false
	}
	return s.Timer(Ref(i)), Ref(i), true
}

// Until returns when a timer's next attempt is due, and whether that is a wall time. If an attempt is due or in
// progress, or the timer is dead, it returns Due.
func (s *State) Until(ref Ref) (until int64, wall bool) {
	r := s.records.at(uint32(ref))
	if s.Left(ref) == 0 {
		return s.until(uint32(ref), r)
	}
	return r.due, r.wall
}

// until returns when the timer of a record is due that waits, and otherwise its due time.
func (s *State) until(i uint32, r *record) (until int64, wall bool) {
	if p, ok := s.parked[i]; ok {
		return p.until, p.wall
	}
	if next, ok := s.next[i]; ok && !s.built {
		return next, false
	}
	if r.state == waiting {
		for w, wheel := range s.wheels {
			if _, due, ok := wheel.Get(r.handle); ok {
				return int64(due), w == 1
			}
		}
	}
	return r.due, r.wall
}

// nextOf returns when the next attempt of a timer is due, or since when it is.
func (s *State) nextOf(i uint32, r *record) (next int64, wall bool) {
	if next, ok := s.next[i]; ok && r.state != waiting {
		return next, false
	}
	return s.until(i, r)
}

// IsDue reports whether an attempt of a timer is due or in progress. It stays true if the wall clock is set back.
func (s *State) IsDue(ref Ref) bool {
	st := s.records.at(uint32(ref)).state
	return st == held || st == running || s.Left(ref) != 0
}

// Keep returns the operation that writes a timer again. It appends the timer's bytes to room, and returns room. A later
// owner, whose clock may be behind this one's, knows since when an attempt is due that is due or in progress.
func (s *State) Keep(ref Ref, room []byte) (frame.Op, []byte) {
	r := s.records.at(uint32(ref))
	name, left := s.left[uint32(ref)] // also of an attempt that is over now: it has failed
	next, wall := s.nextOf(uint32(ref), r)
	op := frame.Op{Kind: frame.Keep, Wall: r.wall, Attempt: r.attempt, ID: r.id, Due: r.due, Next: next}
	switch _, begun := s.begun[uint32(ref)]; {
	case r.state == dead:
		op.State = frame.Dead
	case begun:
		op.State = frame.Begun
	case left:
		op.State, op.Name = frame.Left, name
	case r.attempt > 0:
	case next != r.due || wall != r.wall:
		op.State = frame.Postponed
	}
	e := s.extra(uint32(ref))
	op.Missed, op.Started, op.Failed, op.Paused = e.Missed, e.Started, e.Failed, e.Paused
	op.Debounced, op.Since = e.Debounced, e.Since
	for _, c := range []struct {
		to   *[]byte
		from string
	}{{&op.Key, r.key()}, {&op.Value, r.value()}, {&op.Schedule, e.Schedule}, {&op.Trace, e.Trace}, {&op.Error, e.LastError}} {
		n := len(room)
		room = append(room, c.from...)
		*c.to = room[n:len(room):len(room)]
	}
	return op, room
}

// Listed returns the timer of a record. Its Attempt is the last attempt that has begun, even if the log does not have
// that attempt.
func (s *State) Listed(ref Ref) Timer {
	isRunning := s.records.at(uint32(ref)).state == running
	t := s.listed(ref, isRunning)
	if _, fails := s.fails[uint32(ref)]; isRunning && !fails && !s.HasBegun(ref) {
		t.Attempt = AfterAttempt(t.Attempt)
	}
	return t
}

// Uncalled is Listed for a timer whose handler was not called for an attempt that may have begun: it does not count.
func (s *State) Uncalled(ref Ref) Timer {
	t := s.listed(ref, false)
	if s.HasBegun(ref) {
		t.Attempt--
	}
	return t
}

// listed returns the timer of a record, with Running and Next.
func (s *State) listed(ref Ref, isRunning bool) Timer {
	t := s.Timer(ref)
	t.Running = isRunning || s.Left(ref) != 0
	if r := s.records.at(uint32(ref)); !t.Running && r.state == waiting {
		t.Next = r.next(s.until(uint32(ref), r))
	}
	return t
}

// next returns the Next of a timer that waits until a time. Without attempts that count, it waits after one that was
// postponed, or for its due time.
func (r *record) next(until int64, wall bool) int64 {
	if r.attempt == 0 && until == r.due && wall == r.wall {
		return 0
	}
	return until
}

// Cursor iterates over all timers, a batch at a time. It returns a timer that exists throughout the iteration exactly
// once. A Cursor must be closed.
type Cursor struct {
	state *State
	next  uint32
	limit uint32
}

// Cursor returns a new Cursor. Until it is closed, no record is used again, so that a timer that is set meanwhile is
// not returned a second time.
func (s *State) Cursor() *Cursor {
	s.records.pinned++
	return &Cursor{s, 1, s.records.next}
}

// Take calls f for the timers in the next n records. It reports false at the end.
func (c *Cursor) Take(n int, f func(Ref, Timer)) bool {
	c.next = c.state.Walk(c.next, min(c.limit, c.next+uint32(n)), func(ref Ref, t Timer) bool {
		f(ref, t)
		return true
	})
	return c.next < c.limit
}

// Close releases the cursor.
func (c *Cursor) Close() { c.state.records.pinned-- }

// Records returns a number that is greater than the numbers of all present records.
func (s *State) Records() uint32 { return s.records.next }

// Walk calls f for the timers in the records with numbers from from to to-1, until f returns false. It returns the
// number of the record for which f returned false, or to.
func (s *State) Walk(from, to uint32, f func(Ref, Timer) bool) uint32 {
	for i := max(1, from); i < min(to, s.records.next); i++ {
		if s.records.timer(i) != nil && !f(Ref(i), s.Listed(Ref(i))) {
			return i
		}
	}
	return to
}

// HasHome reports whether the record has a timer whose last complete copy in the log is in frame home.
func (s *State) HasHome(ref Ref, home uint64) bool {
	r := s.records.timer(uint32(ref))
	return r != nil && r.home == home
}
