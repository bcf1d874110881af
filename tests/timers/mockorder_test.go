package timers

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// On a mock, a crowd fires in exact order: of deadline, and of setting and moving where these are equal.
func TestMockFiresACrowdInOrder(t *testing.T) {
	const n, earliest, latest = 5000, 50 * time.Hour, 51 * time.Hour
	for name, delay := range map[string]func(r *rand.Rand) time.Duration{
		"random":  func(r *rand.Rand) time.Duration { return earliest + time.Duration(r.Int64N(int64(time.Hour))) },
		"instant": func(*rand.Rand) time.Duration { return latest },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			mock := clock.NewMock()
			w := wheeltest.New(t, hierarchy.Config{Clock: mock})
			last, fired := time.Duration(0), 0
			fire := func(d time.Duration, order int) func() {
				return func() {
					require.LessOrEqual(t, last, d)
					if name == "instant" {
						require.Equal(t, fired, order)
					}
					last = d
					fired++
				}
			}
			moved := wheeltest.Set(t, w, time.Hour, fire(latest, 0))
			require.True(t, moved.Reset(latest))
			for order := range n {
				d := delay(r)
				wheeltest.Set(t, w, d, fire(d, 1+order))
			}
			mock.Add(60 * time.Hour)
			require.Equal(t, n+1, fired)
		})
	}
}

// oneInstant is two wheels on a mock, all of whose timers are due at one instant in the end.
type oneInstant struct {
	t      *testing.T
	mock   *clock.Mock
	wheels [2]*hierarchy.Wheel
	orders int
	fired  []int // the orders of those that have fired
}

const theInstant = time.Hour

// set sets timers on a wheel, and returns the last and its order.
func (o *oneInstant) set(wheel, n int, d time.Duration) (timer hierarchy.Timer, order *int) {
	for range n {
		o.orders++
		number := o.orders
		order = &number
		timer = wheeltest.Set(o.t, o.wheels[wheel], d, func() { o.fired = append(o.fired, number) })
	}
	return timer, order
}

func (o *oneInstant) reset(timer hierarchy.Timer, order *int) {
	o.orders++
	*order = o.orders
	require.True(o.t, timer.Reset(theInstant))
}

// The order of setting decides over wheels, too, where a crowd of one instant came together in another order.
func TestMockFiresCrowdsOfOneInstantInOrder(t *testing.T) {
	const n = 2000
	for name, set := range map[string]func(o *oneInstant){
		"moved on the other": func(o *oneInstant) {
			timer, order := o.set(1, 1, theInstant)
			o.set(0, n, theInstant)
			o.reset(timer, order)
			o.set(0, 1, theInstant)
		},
		"looked at before": func(o *oneInstant) {
			o.set(0, 1, theInstant)
			o.mock.Next()
			o.set(1, 1, theInstant)
			o.set(0, n, theInstant)
		},
		"moved from before": func(o *oneInstant) {
			timer, order := o.set(0, 1, theInstant/2)
			o.reset(timer, order)
			o.set(1, 1, theInstant)
			o.set(0, n, theInstant)
		},
		"moved to the same": func(o *oneInstant) {
			timer, order := o.set(0, 1, theInstant)
			o.set(0, n, theInstant)
			o.set(1, 1, theInstant)
			o.reset(timer, order)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := &oneInstant{t: t, mock: clock.NewMock()}
			for i := range o.wheels {
				o.wheels[i] = wheeltest.New(t, hierarchy.Config{Clock: o.mock})
			}
			set(o)
			o.mock.Next()
			o.mock.Add(theInstant)
			require.Len(t, o.fired, n+2)
			require.True(t, slices.IsSorted(o.fired), "%v … %v", o.fired[:3], o.fired[n:])
		})
	}
}
