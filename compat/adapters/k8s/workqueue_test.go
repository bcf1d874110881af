package k8s_test

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

// TestRequeueOnAMock runs in a bubble for synctest.Wait alone, which returns when the queue's
// goroutine has set its timers, or has added the item that is due.
func TestRequeueOnAMock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewMock()
		w, err := hierarchy.New(hierarchy.Config{Clock: m})
		require.NoError(t, err)
		defer w.Stop()
		q := newQueue(w)
		defer q.ShutDown()

		q.AddAfter("pod", 90*time.Second)
		synctest.Wait()
		m.Add(90*time.Second - 1)
		synctest.Wait()
		require.Zero(t, q.Len())
		m.Add(1)
		synctest.Wait()
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
	add := func(item string, d time.Duration) {
		q.AddAfter(item, d)
		synctest.Wait()
	}
	add("slow", 25*time.Second)
	add("quick", 1500*time.Microsecond)
	add("moved", time.Hour)
	add("middle", 12*time.Second)
	add("late", 26*time.Hour)
	add("moved", 7*time.Second+1)
	add("now", 0)
	for {
		synctest.Wait()
		for q.Len() > 0 {
			item, _ := q.Get()
			q.Done(item)
			trace = append(trace, fmt.Sprint(m.Elapsed(), " ", item))
			if item == "quick" {
				add("again", time.Minute)
			}
		}
		if m.Elapsed() >= 48*time.Hour {
			break
		}
		m.AddNext() // also each heartbeat of the queue, every 10 s
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
			for synctest.Wait(); q.Len() == 0 && len(attempts) < 5; synctest.Wait() {
				m.AddNext()
			}
		}
		require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}, attempts)
	})
}
