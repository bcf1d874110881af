package lane

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func always(Due) bool { return true }

// due returns a timer that is due after some seconds.
func due(key string, seconds int) Due { return Due{Key: key, At: time.Unix(int64(seconds), 0)} }

// What waits comes in the order of a sorted slice in which each key is once.
func TestWaitingLikeASlice(t *testing.T) {
	type entry struct {
		Due
		seq int
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		var w waiting
		var model []entry
		for seq := range 500 {
			if random.IntN(3) > 0 {
				d := due(fmt.Sprint(random.IntN(40)), random.IntN(20))
				w.push(d, always)
				model = slices.DeleteFunc(model, func(e entry) bool { return e.Key == d.Key })
				model = append(model, entry{d, seq})
				slices.SortFunc(model, func(a, b entry) int {
					if c := a.At.Compare(b.At); c != 0 {
						return c
					}
					return a.seq - b.seq
				})
			} else {
				var allows func(string) bool
				if random.IntN(2) == 0 {
					allows = func(key string) bool { return strings.HasPrefix(key, "1") }
				}
				at := slices.IndexFunc(model, func(e entry) bool { return allows == nil || allows(e.Key) })
				d, ok := w.pop(allows)
				require.Equal(t, at >= 0, ok)
				if ok {
					require.Equal(t, model[at].Due, d)
					model = slices.Delete(model, at, at+1)
				}
			}
			require.Equal(t, len(model), w.len())
			require.Len(t, w.keys, len(model))
		}
	}
}

// Timers that don't wait any more are removed before there are many of them.
func TestWaitingForgets(t *testing.T) {
	var w waiting
	alive := func(d Due) bool { return d.Key == "0" }
	for i := range 100 * sweepAbove {
		w.push(due(fmt.Sprint(i), i), alive)
		require.LessOrEqual(t, w.len(), 2*sweepAbove)
	}
	d, ok := w.pop(nil)
	require.True(t, ok)
	require.Equal(t, "0", d.Key)
}

// Each firing goes to one taker, and a taker gets only what it may have.
func TestQueues(t *testing.T) {
	q := NewQueues(always)
	only := func(prefix string) func(string) bool {
		return func(key string) bool { return strings.HasPrefix(key, prefix) }
	}
	q.Push("q", due("b1", 1))
	q.Push("q", due("a2", 2))
	q.Push("q", due("a3", 3))
	require.Equal(t, map[string]int{"q": 3}, q.Len())
	pop := func(want string, allows func(string) bool) {
		require.Equal(t, want != "", q.Has("q", allows))
		d, ok := q.Pop("q", allows)
		require.Equal(t, want != "", ok)
		require.Equal(t, want, d.Key)
	}
	pop("a2", only("a"))
	pop("", only("c"))
	pop("b1", nil)
	pop("a3", nil)
	pop("", nil)
	require.Empty(t, q.Len(), "queues without anything are forgotten")

	var takers sync.WaitGroup
	taken := make(chan string, 100)
	for range 10 {
		takers.Go(func() {
			for {
				key, ok := q.Wait(t.Context(), "q", only("a"))
				if !ok {
					return
				}
				if d, ok := q.Pop("q", only("a")); ok {
					taken <- d.Key
				}
				q.Pass("q", key)
			}
		})
	}
	q.Push("q", due("b", 0))
	for i := range 50 {
		q.Push("q", due(fmt.Sprint("a", i), i))
	}
	all := make(map[string]bool)
	for range 50 {
		all[<-taken] = true
	}
	require.Len(t, all, 50)
	q.Stop()
	q.Stop()
	takers.Wait()
	require.Equal(t, map[string]int{"q": 1}, q.Len())
}

// A taker that gives up hands on what it was woken for.
func TestTakerGivesUp(t *testing.T) {
	for range 200 {
		q := NewQueues(always)
		ctx, cancel := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() { q.Wait(ctx, "q", nil) })
		woken := make(chan bool)
		go func() {
			_, ok := q.Wait(t.Context(), "q", nil)
			woken <- ok
		}()
		for n := 0; n < 2; {
			q.mu.Lock()
			if one := q.queues["q"]; one != nil {
				n = len(one.takers)
			}
			q.mu.Unlock()
		}
		go cancel()
		q.Push("q", due("k", 0))
		first.Wait()
		q.mu.Lock()
		left := len(q.queue("q").takers)
		q.mu.Unlock()
		if left == 0 {
			require.True(t, <-woken)
		} else { // the first one has taken it before it gave up
			q.Stop()
			<-woken
		}
		_, ok := q.Pop("q", nil)
		require.True(t, ok)
	}
}

// A taker that was woken for a timer may pop another one, or none. Then the next one is woken.
func TestPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueues(always)
		q.Pass("q", "b1")
		woken := make(chan string, 9)
		var pop [3]chan bool
		for i, prefix := range []string{"", "a", "b"} {
			allows := func(key string) bool { return strings.HasPrefix(key, prefix) }
			pop[i] = make(chan bool)
			go func() {
				key, ok := q.Wait(t.Context(), "q", allows)
				if !ok {
					return
				}
				<-pop[i]
				if d, ok := q.Pop("q", allows); ok {
					woken <- fmt.Sprint(i, d.Key)
				}
				q.Pass("q", key)
			}()
			synctest.Wait()
		}
		q.Push("q", due("b1", 2)) // wakes the first one, which pops a1
		q.Push("q", due("a1", 1)) // wakes the second one, which pops nothing
		pop[0] <- true
		synctest.Wait()
		pop[1] <- true
		synctest.Wait()
		pop[2] <- true
		require.Equal(t, []string{"0a1", "2b1"}, []string{<-woken, <-woken})
		q.Stop()
	})
}
