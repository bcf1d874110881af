package callbacks

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Goroutines set what is due while the wheel is stopped: each call that returned no error
// fires exactly once, unless the wheel dropped it, and nothing begins after Shutdown has
// returned.
func TestDueNowWhileTheWheelStops(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			for range 50 {
				w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor, Shards: 4})
				var set, ran atomic.Int64
				var over atomic.Bool
				count := func() {
					if over.Load() {
						panic("begun after Shutdown")
					}
					ran.Add(1)
				}
				var setters sync.WaitGroup
				for g := range 3 {
					setters.Go(func() {
						for i := range 300 {
							timer, err := w.AfterFunc(time.Duration(i%2*g)*time.Hour, count)
							if err != nil {
								return
							}
							set.Add(1)
							timer.Reset(-1)
						}
					})
				}
				for ran.Load() < 20 {
					runtime.Gosched()
				}
				require.NoError(t, w.Shutdown(t.Context()))
				over.Store(true)
				setters.Wait()
				st := w.Stats()
				require.EqualValues(t, set.Load(), st.Scheduled)
				require.EqualValues(t, ran.Load(), st.Fired)
				require.Equal(t, st.Scheduled, st.Fired+st.Dropped)
			}
		})
	}
}

// Several goroutines make the same timers due at once, or stop them: each fires once, or
// was stopped.
func TestDueNowExactlyOnce(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			const n = 500
			for range 10 {
				w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor, MaxPending: n})
				var fired [n]atomic.Int32
				var timers [n]hierarchy.Timer
				for i := range timers {
					timers[i] = wheeltest.Set(t, w, time.Hour, func() { fired[i].Add(1) })
				}
				var all sync.WaitGroup
				var stopped [n]atomic.Int32
				for g := range 4 {
					all.Go(func() {
						for i := range timers {
							if g > 0 {
								timers[i].Reset(time.Duration(-g))
							} else if timers[i].Stop() {
								stopped[i].Add(1)
							}
						}
					})
				}
				all.Wait()
				require.Eventually(t, func() bool { return w.Len() == 0 }, time.Minute, time.Microsecond)
				require.NoError(t, w.Shutdown(t.Context()))
				for i := range timers {
					require.EqualValues(t, 1, fired[i].Load()+stopped[i].Load())
				}
				wheeltest.RequireBalance(t, w)
			}
		})
	}
}

// dueModel is the reference: a map.
type dueModel struct {
	pending map[int]dueEntry
	fired   map[int]int // how often, by value
	now     time.Duration
}

type dueEntry struct {
	value int
	at    time.Duration
}

func (m *dueModel) set(k, v int, d time.Duration) (replaced bool) {
	_, replaced = m.pending[k]
	m.pending[k] = dueEntry{v, m.now + max(0, d)}
	return replaced
}

func (m *dueModel) pass(d time.Duration) {
	m.now += d
	for k, e := range m.pending {
		if e.at <= m.now {
			delete(m.pending, k)
			m.fired[e.value]++
		}
	}
}

// dueRun makes one random call to w and to the model, both of which must agree.
func dueRun(t *testing.T, w *hierarchy.Keyed[int, int], m *dueModel, r *rand.Rand, v int) {
	k, d := r.IntN(8), time.Duration(r.IntN(7)-3)
	switch r.IntN(6) {
	case 0, 1:
		old, replaced, err := w.Swap(k, v, d)
		require.NoError(t, err)
		require.Equal(t, m.pending[k].value, old)
		require.Equal(t, m.set(k, v, d), replaced)
	case 2, 3:
		moved, err := w.Move(k, d)
		require.NoError(t, err)
		e, ok := m.pending[k]
		require.Equal(t, ok, moved)
		if ok {
			m.set(k, e.value, d)
		}
	case 4:
		v, ok := w.Remove(k)
		e, pending := m.pending[k]
		require.Equal(t, pending, ok)
		require.Equal(t, e.value, v)
		delete(m.pending, k)
	default:
		d := time.Duration(r.IntN(4))
		time.Sleep(d)
		m.now += d
	}
	synctest.Wait()
	m.pass(0)
	require.Equal(t, len(m.pending), w.Len())
}

// A wheel of keys does what a map does, where many deadlines have passed when they are set.
func TestDueKeysAgainstAMap(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		for seed := range uint64(20) {
			t.Run(fmt.Sprint(by, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mu sync.Mutex
					fired := map[int]int{}
					w, err := hierarchy.NewKeyed(
						hierarchy.Config{Clock: clock.System(), Precision: 1, Executor: executor},
						func(_, v int) { mu.Lock(); fired[v]++; mu.Unlock() })
					require.NoError(t, err)
					defer w.Stop()
					m := &dueModel{pending: map[int]dueEntry{}, fired: map[int]int{}}
					r := rand.New(rand.NewPCG(seed, 1))
					for v := 1; v < 300; v++ {
						dueRun(t, w, m, r, v)
						mu.Lock()
						require.Equal(t, m.fired, fired)
						mu.Unlock()
					}
					st := w.Stats()
					require.EqualValues(t, st.Fired, st.Lateness.Count())
					require.Equal(t, st.Scheduled, st.Fired+st.Stopped+uint64(st.Pending))
				})
			})
		}
	}
}
