package peers

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/k8s"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// newQueue returns a work queue of client-go whose delays are timers of w.
func newQueue(w *hierarchy.Wheel) workqueue.TypedDelayingInterface[string] {
	return workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{Clock: k8s.New(w)},
	)
}

func TestRequeueOnAMock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewMock()
		w, err := hierarchy.New(hierarchy.Config{Clock: m})
		require.NoError(t, err)
		defer w.Stop()
		q := newQueue(w)
		defer q.ShutDown()

		q.AddAfter("pod", 94*time.Second)
		pass(m, 94*time.Second-1)
		require.Zero(t, q.Len())
		pass(m, 1)
		require.Equal(t, 1, q.Len())
	})
}

// deliveries adds items with various delays, one of them sooner than before, and returns which
// come when.
func deliveries(t *testing.T) (trace []string) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	q := newQueue(w)
	look := func() {
		for q.Len() > 0 {
			item, _ := q.Get()
			q.Done(item)
			trace = append(trace, fmt.Sprint(m.Elapsed(), " ", item))
			if item == "quick" {
				q.AddAfter("again", time.Minute)
			}
		}
	}
	q.AddAfter("slow", 25*time.Second)
	q.AddAfter("quick", 1500*time.Microsecond)
	q.AddAfter("moved", time.Hour)
	q.AddAfter("middle", 12*time.Second)
	q.AddAfter("late", 26*time.Hour)
	q.AddAfter("moved", 7*time.Second+1)
	q.AddAfter("now", 0)
	for pass(m, 0); m.Elapsed() < 27*time.Hour; pass(m, 0) {
		look()
		pass(m, 0)
		next, _ := m.Next() // also the queue's heartbeat, every 10 s
		pass(m, next)
	}
	q.ShutDown()
	synctest.Wait()
	require.Zero(t, w.Len()) // the queue has stopped all timers
	return trace
}

func TestWorkQueueIsDeterministicOnAMock(t *testing.T) {
	want := []string{
		"0s now", "1.5ms quick", "7.000000001s moved", "12s middle", "25s slow", "1m0.0015s again",
		"26h0m0s late",
	}
	for range 2 {
		synctest.Test(t, func(t *testing.T) { require.Equal(t, want, deliveries(t)) })
	}
}

// Failures are retried with client-go's backoff, which doubles.
func TestRateLimitingQueueOnAMock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewMock()
		w, err := hierarchy.New(hierarchy.Config{Clock: m})
		require.NoError(t, err)
		defer w.Stop()
		q := workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
			workqueue.TypedRateLimitingQueueConfig[string]{Clock: k8s.New(w)})
		defer q.ShutDown()

		var attempts []time.Duration
		work := func() error {
			attempts = append(attempts, m.Elapsed())
			if len(attempts) < 5 {
				return errors.New("not yet")
			}
			return nil
		}
		q.Add("pod")
		for len(attempts) < 5 {
			item, _ := q.Get()
			if work() != nil {
				q.AddRateLimited(item)
			}
			q.Done(item)
			pass(m, time.Duration(1<<(len(attempts)-1))*time.Second)
		}
		require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}, attempts)
	})
}

// On the default clock, an item comes, and not too early.
func TestQueueInRealTime(t *testing.T) {
	w, err := hierarchy.New(hierarchy.Config{})
	require.NoError(t, err)
	defer w.Stop()
	q := newQueue(w)
	defer q.ShutDown()
	begin := time.Now()
	q.AddAfter("pod", 2*time.Millisecond)
	item, down := q.Get()
	require.False(t, down)
	require.GreaterOrEqual(t, time.Since(begin), 2*time.Millisecond)
	q.Done(item)
}
