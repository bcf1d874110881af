package hierarchy

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// measured is a Driven whose steps are measured by how many nodes they go through.
type measured struct {
	Driven[int]
	r       *rand.Rand
	visited int
}

func newMeasured() *measured { return &measured{r: rand.New(rand.NewPCG(1, 1))} }

// step is how many nodes were gone through since it was last called.
func (s *measured) step() int {
	if s.timers == nil {
		s.visited = 0
		return 0
	}
	before := s.visited
	s.visited = s.timers.Visited()
	return s.visited - before
}

// crowd sets n timers at random within a span.
func (s *measured) crowd(n int, from, span time.Duration) {
	for range n {
		s.Set(0, from+time.Duration(s.r.Int64N(int64(span))))
	}
}

// Between two timers of a crowd, Expire goes through a small portion of it.
func TestStepsBetweenTimersAreSmall(t *testing.T) {
	const n, most = 200_000, 3 * prepareBudget
	for _, span := range []time.Duration{1, time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour, 30 * 24 * time.Hour} {
		for _, epoch := range []time.Duration{0, 1_800_000_000 * time.Second} {
			s := newMeasured()
			for range s.Expire(epoch) {
			}
			s.crowd(n, epoch+time.Minute, span)
			fired, longest := 0, 0
			for range s.Expire(epoch + time.Minute + span) {
				if fired++; fired > 1 {
					longest = max(longest, s.step())
				}
				s.step()
			}
			require.Equal(t, n, fired)
			require.LessOrEqual(t, longest, most, "%v", span)
		}
	}
}

// The same while time passes in steps, each of which takes out a part of the crowd.
func TestStepsWhileTimePasses(t *testing.T) {
	const n, steps, most = 200_000, 1000, 3 * prepareBudget
	for _, span := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, 30 * 24 * time.Hour} {
		s := newMeasured()
		s.crowd(n, time.Minute, span)
		fired, long := 0, 0
		for k := range steps {
			for range s.Expire(time.Minute + span*time.Duration(k+1)/steps) {
				fired++
				if s.step() > most {
					long++
				}
			}
		}
		require.Equal(t, n, fired)
		require.LessOrEqual(t, long, 1, "%v: only the first step may be long", span)
	}
}

// A crowd that was there before is prepared in portions, though many are set for a later time.
func TestStepsWhileOthersAreSet(t *testing.T) {
	const n, others = 500_000, manyNew
	s := newMeasured()
	s.crowd(n, 207*time.Second, time.Minute) // in one slot, for whose preparation there is over a minute
	for range s.Expire(1) {
	}
	s.step()
	longest := 0
	for now := time.Duration(1); now < 205*time.Second; now += time.Second {
		s.crowd(others, time.Hour, time.Hour)
		for range s.Expire(now) {
		}
		longest = max(longest, s.step())
	}
	require.Positive(t, longest)
	require.LessOrEqual(t, longest, 2*prepareEach*others)
}

// Deadlines that have passed may come in while a crowd of such is taken out.
func TestPassedDeadlinesTrickleIn(t *testing.T) {
	const n = 50_000
	for _, span := range []time.Duration{time.Millisecond, time.Second, time.Hour} {
		s := newMeasured()
		s.Set(0, 2*time.Hour)
		for range s.Expire(time.Hour) {
		}
		s.crowd(n, 0, span)
		left := 3 * n
		for range s.Expire(time.Hour) {
			if left--; left == 0 {
				break
			}
			s.crowd(1, 0, span)
		}
		require.LessOrEqual(t, s.step(), 100*3*n, "%v", span)
	}
}

// A large crowd with deadlines that have passed may come in while such timers are taken out, too
// few among all for a pass over the arena.
func TestPassedCrowdComesIn(t *testing.T) {
	const n, others = 40_000, 20 * 40_000
	s := newMeasured()
	for range others {
		s.Set(0, 1000*time.Hour)
	}
	for range s.Expire(time.Hour) {
	}
	s.crowd(manyNew, 0, time.Minute)
	left := 1000
	for range s.Expire(time.Hour) {
		if left == 1000 {
			s.crowd(n, 0, time.Minute)
		}
		s.crowd(1, time.Second, time.Minute)
		if left--; left == 0 {
			break
		}
	}
	require.LessOrEqual(t, s.step(), 10*n)
}

// A crowd may be set that is due before one that Next has looked at, or Expire has begun with.
func TestCrowdBeforeACrowd(t *testing.T) {
	const n = 50_000
	for _, begin := range []func(s *measured){
		func(s *measured) { s.Next() },
		func(s *measured) {
			for range s.Expire(time.Hour + time.Minute) {
				return
			}
		},
	} {
		s := newMeasured()
		for k := range 8 {
			s.crowd(n, time.Hour-time.Duration(k)*time.Minute, time.Hour)
			begin(s)
		}
		s.step()
		fired, longest := 0, 0
		for range s.Expire(3 * time.Hour) {
			if fired++; fired > 1 {
				longest = max(longest, s.step())
			}
			s.step()
		}
		require.LessOrEqual(t, longest, 4*n)
		require.LessOrEqual(t, s.visited, 8*n*8)
	}
}

// Next goes through a crowd once, though timers of it are moved and removed, and others set.
func TestNextGoesThroughACrowdOnce(t *testing.T) {
	const n = 50_000
	for _, span := range []time.Duration{time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour} {
		s := newMeasured()
		byDue := map[time.Duration][]Handle{}
		set := func() {
			due := 100*time.Hour + time.Duration(s.r.Int64N(int64(span)))
			byDue[due] = append(byDue[due], s.Set(0, due))
		}
		for range n {
			set()
		}
		for range 1000 {
			due, ok := s.Next()
			require.True(t, ok)
			last := len(byDue[due]) - 1
			_, ok = s.Remove(byDue[due][last])
			require.True(t, ok)
			byDue[due] = byDue[due][:last]
			set()
		}
		require.LessOrEqual(t, s.step(), 12*n, "%v", span)
	}
}

// The same for a crowd that lies before one that Next has gone through already, and for one whose
// time has passed.
func TestNextGoesThroughAnEarlierCrowdOnce(t *testing.T) {
	const n, slot = 50_000, 5240 << 36 // one of circle 6, which is 68 seconds wide
	for name, begin := range map[string]func(s *measured){
		"in an earlier slot": func(s *measured) { s.crowd(manyNew, slot+70*time.Second, time.Second) },
		"in the same slot":   func(s *measured) { s.crowd(manyNew, slot+40*time.Second, time.Second/4) },
		"passed": func(s *measured) {
			for range s.Expire(2 * slot) {
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMeasured()
			begin(s)
			s.Next()
			byDue := map[time.Duration][]Handle{}
			set := func() {
				due := slot + time.Duration(s.r.Int64N(int64(time.Second)))
				byDue[due] = append(byDue[due], s.Set(0, due))
			}
			for range n {
				set()
			}
			s.step()
			for range 1000 {
				due, ok := s.Next()
				require.True(t, ok)
				last := len(byDue[due]) - 1
				_, ok = s.Remove(byDue[due][last])
				require.True(t, ok)
				byDue[due] = byDue[due][:last]
				set()
			}
			require.LessOrEqual(t, s.step(), 20*n)
		})
	}
}
