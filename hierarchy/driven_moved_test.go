package hierarchy

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/long"
)

// sessions is what an event loop does to a Driven: each turn it sets the timer of one of its sessions
// again, and asks for Next. One session is never touched, and is the first. Another one is before it
// for a moment in each turn.
type sessions struct {
	*measured
	now, from, span time.Duration // timers are set to within span, from a time after now
	handles         []Handle
	nearest         Handle
}

func newSessions(n int, from, span time.Duration) *sessions {
	s := &sessions{measured: newMeasured(), now: 1_800_000_000 * time.Second, from: from, span: span}
	for range s.Expire(s.now) {
	}
	s.crowd(n, s.now+100*time.Hour, time.Second) // poured ahead, so that what comes before is gathered
	s.Next()
	s.Set(0, s.now+from+1)
	s.nearest = s.Set(0, s.due())
	for range n {
		s.handles = append(s.handles, s.Set(0, s.due()))
	}
	return s
}

func (s *sessions) due() time.Duration {
	return s.now + s.from + 1 + time.Duration(s.r.Int64N(int64(s.span)))
}

// turn is one turn of the loop.
func (s *sessions) turn(touch func(h Handle, due time.Duration) Handle) {
	i := s.r.IntN(len(s.handles))
	s.nearest = s.move(s.nearest, s.now+s.from)
	s.handles[i] = touch(s.handles[i], s.due())
	s.Next()
	s.Move(s.nearest, s.due())
	s.Next()
}

func (s *sessions) move(h Handle, due time.Duration) Handle {
	if s.Move(h, due) {
		return h
	}
	return s.Set(0, due)
}

func (s *sessions) setAgain(h Handle, due time.Duration) Handle {
	s.Remove(h)
	return s.Set(0, due)
}

// Timers that are moved, or removed and set again, leave nothing behind, wherever to: memory and
// steps stay in proportion to the timers.
func TestMovedTimersLeaveNothing(t *testing.T) {
	long.Only(t)
	const n, turns = 2000, 20_000
	for _, from := range []time.Duration{-2 * time.Hour, -time.Second, time.Second, time.Hour} {
		for _, span := range []time.Duration{time.Millisecond, time.Second, time.Minute, 4 * time.Hour} {
			t.Run(fmt.Sprint(from, " + ", span), func(t *testing.T) {
				s := newSessions(n, from, span)
				touches := []func(Handle, time.Duration) Handle{s.move, s.setAgain}
				s.step()
				for k := range turns {
					s.turn(touches[k*len(touches)/turns])
					if k%100 == 0 {
						require.NoError(t, s.timers.Check())
					}
				}
				require.LessOrEqual(t, s.step(), manyNew*turns)
			})
		}
	}
}

// The same where time passes, and Expire is left at its first timer.
func TestMovedTimersLeaveNothingAsTimePasses(t *testing.T) {
	long.Only(t)
	const n, turns = 2000, 20_000
	for _, step := range []time.Duration{10 * time.Microsecond, time.Millisecond, time.Second} {
		s := newSessions(n, 0, n*step)
		for k := range turns {
			s.turn(s.move)
			s.now += step
			for range s.Expire(s.now) {
				break
			}
			if k%100 == 0 {
				require.NoError(t, s.timers.Check())
			}
		}
	}
}

// A crowd that was sorted takes no more memory than what is left of it, when all but a few of its
// timers are moved away, or all but a few of the last.
func TestCrowdThatIsMovedAwayLeavesNothing(t *testing.T) {
	long.Only(t)
	const n, few = 10_000, 10
	for name, stay := range map[string]func(i int) bool{
		"the first stay": func(i int) bool { return i < few },
		"the last stay":  func(i int) bool { return i >= n-few },
		"some stay":      func(i int) bool { return i%(n/few) == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newMeasured()
			for range s.Expire(time.Hour) {
			}
			for range 3 {
				handles := make([]Handle, n)
				for _, i := range s.r.Perm(n) {
					handles[i] = s.Set(0, time.Minute+time.Duration(i))
				}
				for i, h := range handles {
					if s.Next(); !stay(i) {
						s.Move(h, 100*time.Hour)
					}
					if i%100 == 0 {
						require.NoError(t, s.timers.Check())
					}
				}
				require.NoError(t, s.timers.Check())
			}
		})
	}
}
