package lane

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// set sets limits, which are given as a kind, a name and a limit each.
func set(t *testing.T, g *Gate, all ...any) {
	t.Helper()
	m := make(map[limits.Scope]limits.Limit)
	for i := 0; i < len(all); i += 3 {
		s, err := limits.Parse(string(all[i].(limits.Kind)), all[i+1].(string))
		require.NoError(t, err)
		m[s] = all[i+2].(limits.Limit)
	}
	g.Set(m)
}

// check returns an error if an invariant of g does not hold.
func (g *Gate) check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s, r := range g.rules {
		switch l := r.meter.Limit(); {
		case l.IsZero() || r.scope != s || len(r.places) != r.order.Len():
			return fmt.Errorf("%v is %v, and %d places are %d", s, l, len(r.places), r.order.Len())
		case l.AtOnce > 0 && r.meter.Running() > l.AtOnce, r.meter.Running() < 0:
			return fmt.Errorf("%v: %d run", s, r.meter.Running())
		case r.order.Len() > 0 && r.room(g.now()) > 0:
			return fmt.Errorf("%v has room, and somebody waits", s)
		}
	}
	return nil
}

// A host that is paused has no calls, and goes on where it was. Others go on meanwhile, at other ports, too.
func TestPausedHost(t *testing.T) {
	inWorld(t, 2, 100, func(w *world) {
		for _, name := range []string{"a:80", "a:443", "b:443"} {
			w.is(name, after(time.Millisecond))
		}
		set(t, w.gate, limits.Host, "A:443", limits.Limit{Paused: true})
		for _, name := range []string{"a:80", "a:443", "b:443"} {
			w.push(name, 5)
		}
		time.Sleep(time.Second)
		require.Equal(t, Figures{Waiting: 5}, w.Figures())
		set(t, w.gate, limits.Host, "a:80", limits.Limit{Paused: true})
		w.push("a:80", 5)
		time.Sleep(time.Second)
		require.Equal(t, Figures{Waiting: 5}, w.Figures(), "what was paused before has gone on")
		set(t, w.gate, limits.Host, "a", limits.Limit{Paused: true})
		w.push("a:443", 5)
		time.Sleep(time.Second)
		require.Equal(t, Figures{Waiting: 10}, w.Figures(), "all ports")
		set(t, w.gate)
		time.Sleep(time.Second)
		require.Zero(t, w.Figures().Waiting)
		w.locked(func() { require.Equal(t, 25, w.calls) })
	})
}

// Calls of a rate begin to the nanosecond when they should in virtual time, whatever else goes on, and what was not used
// before is not made up for.
func TestRate(t *testing.T) {
	inWorld(t, 100, 100, func(w *world) {
		w.is("a:1", after(900*time.Millisecond))
		w.is("b:1", after(0))
		set(t, w.gate, limits.Host, "a", limits.Limit{Rate: 10})
		time.Sleep(time.Hour)
		w.learn("a:1")
		w.push("a:1", 50)
		w.push("b:1", 50)
		time.Sleep(6 * time.Second)
		w.locked(func() {
			begun := w.begun["a:1"][1:]
			require.Len(t, begun, 50)
			for i := range begun {
				require.Equal(t, begun[0]+time.Duration(i)*100*time.Millisecond, begun[i])
			}
			require.Len(t, w.begun["b:1"], 50)
		})
		require.NoError(t, w.gate.check())
	})
}

// learn has a host answer once.
func (w *world) learn(name string) {
	w.push(name, 1)
	for w.runs(name) > 0 {
		time.Sleep(time.Second)
	}
}

// A limit of a prefix is for all places together, which have their turns one after the other. Timers with other keys at
// the same places do not wait.
func TestPrefixOfManyPlaces(t *testing.T) {
	inWorld(t, 10, 100, func(w *world) {
		set(t, w.gate, limits.Prefix, "x/", limits.Limit{AtOnce: 3}, limits.Prefix, "x/y/", limits.Limit{Paused: true})
		var order []string
		w.call = func(d Due) {
			w.mu.Lock()
			order = append(order, d.Key[:3])
			w.mu.Unlock()
			time.Sleep(time.Second)
		}
		for i := range 4 {
			name := fmt.Sprintf("h%d:1", i)
			for k := range 3 {
				w.Push(name, due(fmt.Sprintf("x/%d/%d", i, k), k))
			}
			w.Push(name, due(fmt.Sprintf("x/y/%d", i), 0))
			w.Push(name, due(fmt.Sprintf("z/%d", i), 99))
		}
		synctest.Wait()
		w.locked(func() {
			require.ElementsMatch(t, []string{"x/0", "x/1", "x/2", "z/3"}, order, "hosts that are not known yet have one call")
		})
		for range 20 {
			time.Sleep(time.Second)
			synctest.Wait()
			require.NoError(t, w.gate.check())
		}
		w.locked(func() { require.Len(t, order, 4*4) })
		require.Equal(t, Figures{Waiting: 4}, w.Figures())
		counts := w.Limited(make(map[limits.Scope]int))
		require.Equal(t, map[limits.Scope]int{{Kind: limits.Prefix, Name: "x/y/"}: 4}, counts)
	})
}

// A worker that waits gets a firing when a limit allows it, and no sooner. One that may take others takes these.
func TestLimitedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(nil)
		q := NewQueues(g)
		defer g.Stop()
		set(t, g, limits.Queue, "q", limits.Limit{Rate: 2, AtOnce: 3}, limits.Prefix, "p", limits.Limit{Paused: true})
		begin := time.Now()
		var mu sync.Mutex
		var begun []time.Duration
		var workers sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for range 5 {
			workers.Go(func() {
				for {
					key, ok := q.Wait(ctx, "q", "")
					if !ok {
						return
					}
					_, pass, ok := q.Pop("q", "")
					q.Pass("q", key)
					if ok {
						mu.Lock()
						begun = append(begun, time.Since(begin))
						mu.Unlock()
						time.Sleep(4 * time.Second)
						pass.End()
					}
				}
			})
		}
		synctest.Wait()
		for i := range 10 {
			q.Push("q", due(fmt.Sprint(i), i))
			q.Push("q", due(fmt.Sprint("p", i), i))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []time.Duration{0, 500, 1000, 4000, 4500, 5000, 8000, 8500, 9000, 12000}, milliseconds(begun))
		require.Equal(t, map[string]int{"q": 10}, lens(q))
		require.False(t, q.Has("q", ""))
		require.Equal(t, map[limits.Scope]int{{Kind: limits.Prefix, Name: "p"}: 10}, q.Limited(make(map[limits.Scope]int)))
		set(t, g)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, lens(q))
		cancel()
		workers.Wait()
	})
}

func milliseconds(all []time.Duration) []time.Duration {
	for i := range all {
		all[i] /= time.Millisecond
	}
	return all
}

// A worker that was woken and leaves does not keep others from its turn.
func TestWorkerLeavesItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(nil)
		q := NewQueues(g)
		defer g.Stop()
		set(t, g, limits.Prefix, "p", limits.Limit{Rate: 1})
		for _, name := range []string{"a", "b", "c"} {
			q.Push(name, due("p"+name, 0))
		}
		_, _, ok := q.Pop("c", "")
		require.True(t, ok)
		woken := make(chan string, 2)
		for _, name := range []string{"a", "b"} {
			go func() {
				_, ok := q.Wait(t.Context(), name, "")
				require.True(t, ok)
				woken <- name
			}()
		}
		begin := time.Now()
		<-woken // and it takes nothing
		require.Equal(t, time.Second, time.Since(begin))
		other := <-woken
		require.Equal(t, time.Second+spokenFor, time.Since(begin))
		_, _, ok = q.Pop(other, "")
		require.True(t, ok)
	})
}

// Places without timers are forgotten, also while a limit has them wait.
func TestGateForgets(t *testing.T) {
	g := NewGate(nil)
	q := NewQueues(g)
	set(t, g, limits.Prefix, "p", limits.Limit{Paused: true})
	for i := range 1000 {
		name := fmt.Sprint(i)
		q.Push(name, due("p", 0))
		_, _, ok := q.Pop(name, "")
		require.False(t, ok)
		q.Remove(name, "p", durable.ID{})
	}
	require.Empty(t, q.queues)
	require.Zero(t, g.rules[limits.Scope{Kind: limits.Prefix, Name: "p"}].order.Len())
}

// A limit of a prefix is for timers that wait already, too, and those with other keys go on.
func TestPausedPrefixOfWaitingTimers(t *testing.T) {
	g := NewGate(nil)
	q := NewQueues(g)
	for _, key := range []string{"a1", "b1", "a2", "b2"} {
		q.Push("q", due(key, 0))
	}
	pop := func() string {
		d, _, _ := q.Pop("q", "")
		return d.Key
	}
	require.Equal(t, "a1", pop())
	set(t, g, limits.Prefix, "a", limits.Limit{Paused: true})
	require.Equal(t, "b1", pop())
	require.Equal(t, "b2", pop())
	require.Empty(t, pop())
	set(t, g, limits.Prefix, "a", limits.Limit{Paused: true}, limits.Prefix, "a2", limits.Limit{AtOnce: 1})
	require.Empty(t, pop(), "the shorter prefix counts, too")
	set(t, g)
	require.Equal(t, "a2", pop())
}
