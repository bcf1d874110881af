package lane

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// Whatever limits are set meanwhile, no attempt begins that one of them forbids, and none is lost.
func TestGateAtRandom(t *testing.T) {
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 0))
		inWorld(t, 3, 8, func(w *world) {
			w.call = func(d Due) {
				w.gate.mu.Lock()
				for s, r := range w.gate.rules {
					if s.Kind == limits.Prefix && strings.HasPrefix(d.Key, s.Name) && r.meter.Running() == 0 {
						t.Errorf("%v does not count %s", s, d.Key)
					}
				}
				w.gate.mu.Unlock()
				time.Sleep(time.Duration(len(d.Key)*d.At.Second()) * 50 * time.Millisecond)
			}
			pushed := 0
			for range 200 {
				for range random.IntN(4) {
					pushed++
					w.Push(fmt.Sprintf("h%d:1", random.IntN(4)), due(fmt.Sprintf("%d/%d/%d", random.IntN(3), random.IntN(3), pushed), random.IntN(10)))
				}
				synctest.Wait()
				if random.IntN(5) == 0 {
					set(t, w.gate, randomLimits(random)...)
				}
				time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
				synctest.Wait()
				require.NoError(t, w.check())
				require.NoError(t, w.gate.check())
			}
			set(t, w.gate)
			time.Sleep(time.Hour)
			synctest.Wait()
			w.locked(func() { require.Equal(t, pushed, w.calls) })
		})
	}
}

func randomLimits(random *rand.Rand) (all []any) {
	for _, one := range []struct {
		kind limits.Kind
		name string
	}{{limits.Host, "h1"}, {limits.Host, "h2:1"}, {limits.Prefix, "1"}, {limits.Prefix, "1/2"}, {limits.Prefix, "2/"}} {
		l := limits.Limit{Paused: random.IntN(8) == 0}
		if random.IntN(2) == 0 {
			l.Rate = float64(1+random.IntN(20)) / 4
		}
		if random.IntN(3) == 0 {
			l.AtOnce = 100 // those in progress count, and may be more
		}
		all = append(all, one.kind, one.name, l)
	}
	return all
}
