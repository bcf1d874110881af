package state

import "time"

// Standing is whether a request of which no answer is known can be a copy of one that was committed.
type Standing int

const (
	// Fresh: it has not been committed.
	Fresh Standing = iota
	// Passed: it has not been committed, and a later one of its caller has been. What its caller gave up must not
	// be committed after what it has requested instead.
	Passed
	// Old: it may have been committed, and its caller may have been forgotten since.
	Old
)

// Counted is more than the serial numbers of callers that count from 1, as they did once. What is said of
// Passed and Old does not hold for those.
const Counted = 1 << 40

// Standing is that of a request that has no Answer. Callers begin to count at the time of a frame that was in
// the log before, in nanoseconds, and count fewer messages than Remember has nanoseconds. So a request of a
// caller that was forgotten has a number that is hardly above the time when the caller was there.
func (s *State) Standing(id Request) Standing {
	q := &s.requests
	c := q.callers[id.Caller]
	switch {
	case id.Serial < Counted:
		return Fresh
	case c == nil && int64(id.Serial) <= q.forgot+q.remember/2:
		return Old
	case c != nil && id.Serial < c.answers[len(c.answers)-1].serial:
		return Passed
	}
	return Fresh
}

// SetRemember sets how long a caller is remembered that requests nothing. It is called on an empty State.
func (s *State) SetRemember(d time.Duration) { s.requests.remember = int64(d) }

// Remembers reports whether a caller has a request that is remembered.
func (s *State) Remembers(caller uint64) bool { return s.requests.callers[caller] != nil }
