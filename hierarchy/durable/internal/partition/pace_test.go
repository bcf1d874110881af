package partition

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// station is servers that work on several frames at once, each for some time.
type station struct {
	servers chan bool
	each    time.Duration
}

func newStation(servers int, each time.Duration) station {
	return station{make(chan bool, servers), each}
}

func (s station) append() {
	s.servers <- true
	time.Sleep(s.each)
	<-s.servers
}

// crowd has partitions send frames for a while, and returns how many were sent, and the median number of
// places in the last fifth of that time. At one moment it may be fewer: frames that waited together end
// together, and each takes a part of a place away.
func crowd(t *testing.T, g *Gate, partitions int, s station, d time.Duration) (frames, places int) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var seen []int
	late := time.Now().Add(d - d/5)
	for range partitions {
		wg.Go(func() {
			for one := newWaiter(new(queue)); ctx.Err() == nil; {
				if !g.enter(one, 0) {
					continue
				}
				begun := time.Now()
				s.append()
				g.leave(time.Since(begun))
				mu.Lock()
				if frames++; begun.After(late) {
					seen = append(seen, g.now())
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(seen)
	return frames, seen[len(seen)/2]
}

func (g *Gate) now() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.places
}

// A Gate that learns has few frames wait for each other, and keeps all servers at work.
func TestLearningGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewLearningGate()
		for range 3 { // the window ends now and then
			for _, c := range []struct{ servers, least, most int }{{1, 2, 3}, {16, 16, 28}, {4, 4, 8}, {1, 2, 3}, {64, 31, mostPlaces}} {
				frames, places := crowd(t, g, 32, newStation(c.servers, time.Millisecond), 5*time.Second)
				require.GreaterOrEqual(t, places, c.least, c)
				require.LessOrEqual(t, places, c.most, c)
				require.Greater(t, frames, 5000*min(c.servers, 32)*9/10, c)
			}
		}
		require.Zero(t, g.taken)
	})
}

// When servers have become slower, that is no sign that frames wait for each other.
func TestLearningGateOfSlowerServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewLearningGate()
		for _, each := range []time.Duration{time.Millisecond, 8 * time.Millisecond} {
			_, places := crowd(t, g, 32, newStation(16, each), 3*paceWindow-paceWindow/5)
			require.GreaterOrEqual(t, places, 16, each)
		}
	})
}

// An answer that comes late once changes little.
func TestPaceOfOneLateAnswer(t *testing.T) {
	p := new(pace)
	now := time.Now()
	for range 200 {
		p.learn(now, time.Millisecond)
	}
	require.Greater(t, p.places, 30.0)
	require.Greater(t, p.learn(now, time.Hour), 27)
}
