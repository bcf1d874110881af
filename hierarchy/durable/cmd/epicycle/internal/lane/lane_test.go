package lane

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// due returns a timer that is due after some seconds.
func due(key string, seconds int) Due { return Due{Key: key, At: time.Unix(int64(seconds), 0)} }

// Each firing goes to one taker, and a taker gets only what it may have.
func TestQueues(t *testing.T) {
	q := NewQueues(NewGate(nil))
	q.Push("q", due("b1", 1))
	q.Push("q", due("a2", 2))
	q.Push("q", due("a3", 3))
	require.Equal(t, map[string]int{"q": 3}, lens(q))
	pop := func(want, prefix string) {
		require.Equal(t, want != "", q.Has("q", prefix))
		d, _, ok := q.Pop("q", prefix)
		require.Equal(t, want != "", ok)
		require.Equal(t, want, d.Key)
	}
	pop("a2", "a")
	pop("", "c")
	pop("b1", "")
	pop("a3", "")
	pop("", "")
	require.Empty(t, q.queues, "queues without anything are forgotten")

	var takers sync.WaitGroup
	taken := make(chan string, 100)
	for range 10 {
		takers.Go(func() {
			for {
				key, ok := q.Wait(t.Context(), "q", "a")
				if !ok {
					return
				}
				if d, _, ok := q.Pop("q", "a"); ok {
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
	require.Equal(t, map[string]int{"q": 1}, lens(q))
}

// lens returns how many timers wait in each queue.
func lens(q *Queues) map[string]int {
	m := make(map[string]int)
	all, _ := q.Lens(1000)
	for _, l := range all {
		m[l.Queue] = l.Len
	}
	return m
}

// Queues that come and go while others use them lose nothing.
func TestQueuesThatComeAndGo(t *testing.T) {
	q := NewQueues(NewGate(nil))
	var users sync.WaitGroup
	for u := range 4 {
		users.Go(func() {
			key := fmt.Sprint(u)
			for i := range 2000 {
				q.Push("q", due(key, i))
				if i%2 == 0 {
					q.Remove("q", key, durable.ID{})
				} else if d, _, ok := q.Pop("q", key); !ok || d.Key != key {
					t.Error("it is lost")
				}
			}
		})
	}
	users.Wait()
	require.Empty(t, q.queues)
}

// What was removed is in no figure, and a queue without timers is in none. Beyond the queues that are listed, timers are
// counted together.
func TestLens(t *testing.T) {
	q := NewQueues(NewGate(nil))
	id := func(s string) (id durable.ID) {
		require.NoError(t, id.UnmarshalText([]byte(strings.Repeat(s, 32))))
		return id
	}
	for i := range 5 {
		for k := range i + 1 {
			q.Push(fmt.Sprint("q", i), Due{Key: fmt.Sprint(k), ID: id("1")})
		}
	}
	check := func(others int, want ...Len) {
		t.Helper()
		all, n := q.Lens(2)
		require.Equal(t, want, all)
		require.Equal(t, others, n)
	}
	check(6, Len{"q4", 5}, Len{"q3", 4})
	q.Remove("q4", "0", id("2"))
	q.Remove("q4", "none", id("1"))
	q.Remove("none", "0", id("1"))
	check(6, Len{"q4", 5}, Len{"q3", 4})
	for k := range 5 {
		q.Remove("q4", fmt.Sprint(k), id("1"))
	}
	q.Pop("q3", "")
	check(3, Len{"q2", 3}, Len{"q3", 3})
	require.Len(t, q.queues, 4)
	q.Remove("q0", "0", id("1"))
	require.Len(t, q.queues, 3)
}

// A taker that gives up hands on what it was woken for.
func TestTakerGivesUp(t *testing.T) {
	for range 200 {
		q := NewQueues(NewGate(nil))
		ctx, cancel := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() { q.Wait(ctx, "q", "") })
		woken := make(chan bool)
		go func() {
			_, ok := q.Wait(t.Context(), "q", "")
			woken <- ok
		}()
		takers := func() int {
			one := q.lock("q", true)
			defer q.unlock(one)
			return len(one.takers)
		}
		for takers() < 2 {
		}
		go cancel()
		q.Push("q", due("k", 0))
		first.Wait()
		if takers() == 0 {
			require.True(t, <-woken)
		} else { // the first one has taken it before it gave up
			q.Stop()
			<-woken
		}
		_, _, ok := q.Pop("q", "")
		require.True(t, ok)
	}
}

// A taker that was woken for a timer may pop another one, or none. Then the next one is woken.
func TestPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueues(NewGate(nil))
		q.Pass("q", "b1")
		woken := make(chan string, 9)
		var pop [3]chan bool
		for i, prefix := range []string{"", "a", "b"} {
			pop[i] = make(chan bool)
			go func() {
				key, ok := q.Wait(t.Context(), "q", prefix)
				if !ok {
					return
				}
				<-pop[i]
				if d, _, ok := q.Pop("q", prefix); ok {
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
