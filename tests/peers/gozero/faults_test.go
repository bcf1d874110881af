package gozero

import (
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKeySetAgainAfterDrain: go-zero's wheel still has drained keys in its index, and puts
// the next timer of such a key into an entry that is no longer on the ring.
func TestKeySetAgainAfterDrain(t *testing.T) {
	compare(t, 10, nil, []int{9}, func(r *rig) []int {
		r.set("key", "old", 5)
		r.tick(1)
		r.drain(func(_, _ any) {})
		r.set("key", "new", 8)
		r.tick(40)
		return r.ran["key"]
	})
}

// TestMoveAfterDrain: on go-zero's wheel, a move brings back a drained timer.
func TestMoveAfterDrain(t *testing.T) {
	compare(t, 10, []int{1, 3}, nil, func(r *rig) []int {
		r.set("key", nil, 5)
		r.tick(1)
		r.drain(func(_, _ any) {})
		r.move("key", 0.5)
		r.move("key", 2)
		r.tick(40)
		return r.ran["key"]
	})
}

// TestSetInsideDrain: go-zero's wheel waits for the callbacks of Drain while a call in
// them waits for the wheel. Only Stop ends that.
func TestSetInsideDrain(t *testing.T) {
	type outcome struct{ returned, refused bool }
	compare(t, 10, outcome{false, true}, outcome{true, false}, func(r *rig) (o outcome) {
		r.set("key", nil, 5)
		ended := make(chan error, 1)
		r.drain(func(key, _ any) { ended <- r.SetTimer(key, nil, interval) })
		o.returned = len(ended) == 1
		if !o.returned {
			r.Stop()
		}
		o.refused = <-ended != nil
		return o
	})
}

// TestDrainHoldsUpCallers: on go-zero's wheel, all calls wait until the last callback of
// Drain has returned.
func TestDrainHoldsUpCallers(t *testing.T) {
	compare(t, 10, false, true, func(r *rig) bool {
		r.set("key", nil, 5)
		release := make(chan struct{})
		r.drain(func(_, _ any) { <-release })
		ended := make(chan error, 1)
		go func() { ended <- r.SetTimer("other", nil, interval) }()
		synctest.Wait()
		free := len(ended) == 1
		close(release)
		require.NoError(r.t, <-ended)
		return free
	})
}

func TestSecondStop(t *testing.T) {
	compare(t, 10, true, false, func(r *rig) (panicked bool) {
		defer func() { panicked = recover() != nil }()
		r.Stop()
		r.wheel.Stop()
		return false
	})
}

// inChild is set in the environment of child processes, which go-zero may crash.
const inChild = "GOZERO_CHILD"

// TestUnhashableKey: an unhashable key panics in the goroutine of go-zero's wheel, where
// the caller can't recover it.
func TestUnhashableKey(t *testing.T) {
	key := []int{1}
	if os.Getenv(inChild) != "" {
		w, err := goZero.wheel(10, func(_, _ any) {}, nil)
		require.NoError(t, err)
		require.NoError(t, w.SetTimer(key, nil, interval))
		select {} // waits for the crash
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestUnhashableKey$", "-test.timeout", "1m")
	child.Env = append(os.Environ(), inChild+"=1")
	output, err := child.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "hash of unhashable type: []int")

	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, epicycle, 10)
		defer r.Stop()
		require.ErrorIs(t, r.SetTimer(key, nil, interval), r.errKey)
		require.ErrorIs(t, r.MoveTimer(key, interval), r.errKey)
		require.ErrorIs(t, r.RemoveTimer(key), r.errKey)
	})
}

// TestClosedTickerChannel: go-zero's wheel takes a closed channel for endless ticks. Its
// task runs although no tick was sent.
func TestClosedTickerChannel(t *testing.T) {
	for _, i := range []implementation{goZero, epicycle} {
		t.Run(i.name, func(t *testing.T) {
			r := newRig(t, i, 10)
			defer r.Stop()
			ran := make(chan any, 1)
			r.do = func(key any) { ran <- key }
			r.set("in a thousand ticks", nil, 1000)
			close(r.ticks)
			if i.name == goZero.name {
				require.Equal(t, "in a thousand ticks", <-ran)
				return
			}
			for r.SetTimer("key", nil, interval) == nil { // until the wheel notices that the channel is closed
			}
			require.ErrorIs(t, r.SetTimer("key", nil, interval), r.errClosed)
			require.Empty(t, ran)
		})
	}
}

// TestNoWholeMultiple: go-zero's wheel rounds delays down to whole intervals.
func TestNoWholeMultiple(t *testing.T) {
	for delay, want := range map[float64]struct{ onGoZero, onOurs int }{
		0.5: {1, 1}, 1.9: {1, 2}, 2.5: {2, 3}, 12.001: {12, 13}, 15.999: {15, 16},
	} {
		compare(t, 10, []int{want.onGoZero}, []int{want.onOurs}, func(r *rig) []int {
			r.set("key", nil, delay)
			r.tick(40)
			return r.ran["key"]
		})
		compare(t, 10, []int{2 + want.onGoZero}, []int{2 + want.onOurs}, func(r *rig) []int {
			r.set("key", nil, 5)
			r.tick(2)
			r.set("key", nil, delay)
			r.tick(40)
			return r.ran["key"][:1]
		})
	}
}

// TestBetweenTicks: go-zero's wheel counts delays from the tick before the call. The test
// runs in a bubble, where no time passes while goroutines run.
func TestBetweenTicks(t *testing.T) {
	for delay, want := range map[time.Duration]struct{ onGoZero, onOurs time.Duration }{
		100 * time.Millisecond:  {300 * time.Millisecond, 100 * time.Millisecond}, // late
		1000 * time.Millisecond: {300 * time.Millisecond, 1000 * time.Millisecond},
		2600 * time.Millisecond: {1300 * time.Millisecond, 2600 * time.Millisecond},
		3000 * time.Millisecond: {2300 * time.Millisecond, 3000 * time.Millisecond},
	} {
		for i, want := range map[*implementation]time.Duration{&goZero: want.onGoZero, &epicycle: want.onOurs} {
			t.Run(delay.String()+"/"+i.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var start time.Time
					took := make(chan time.Duration, 1)
					w, err := i.wheel(10, func(_, _ any) { took <- time.Since(start) }, nil)
					require.NoError(t, err)
					defer w.Stop()
					time.Sleep(700 * time.Millisecond)
					start = time.Now()
					require.NoError(t, w.SetTimer("key", nil, delay))
					require.Equal(t, want, <-took)
				})
			})
		}
	}
}

// TestTasksOfOneTick: on go-zero's wheel, the tasks of one tick wait for each other.
func TestTasksOfOneTick(t *testing.T) {
	compare(t, 10, 1, 3, func(r *rig) int {
		var begun atomic.Int32
		release := make(chan struct{})
		r.do = func(any) {
			begun.Add(1)
			<-release
		}
		for key := range 3 {
			r.set(key, nil, 4)
		}
		r.tick(4)
		n := int(begun.Load())
		close(release)
		synctest.Wait()
		require.EqualValues(t, 3, begun.Load())
		return n
	})
}

// TestTasksThatHaveNotBegunAtStop: on go-zero's wheel, tasks that are due at Stop still run,
// one after the other. On ours, tasks beyond 4,096 wait, and do not run after Stop.
func TestTasksThatHaveNotBegunAtStop(t *testing.T) {
	const tasks = 4096 + 10
	type begun struct{ before, after int32 }
	compare(t, 10, begun{1, tasks}, begun{4096, 4096}, func(r *rig) begun {
		var n atomic.Int32
		release := make(chan struct{})
		r.do = func(any) {
			n.Add(1)
			<-release
		}
		for key := range tasks {
			r.set(key, nil, 4)
		}
		r.tick(4)
		before := n.Load()
		r.Stop()
		close(release)
		synctest.Wait()
		return begun{before, n.Load()}
	})
}

// TestTaskThatExits: on go-zero's wheel, it also ends the other tasks of its tick.
func TestTaskThatExits(t *testing.T) {
	compare(t, 10, 3, 5, func(r *rig) int {
		r.do = func(key any) {
			if key == 2 {
				runtime.Goexit()
			}
		}
		for key := range 5 {
			r.set(key, nil, 4)
		}
		r.tick(4)
		return len(r.ran)
	})
}

// TestArguments tests the arguments that only one of the libraries rejects.
func TestArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, i := range []implementation{goZero, epicycle} {
			w, err := i.wheel(0, func(_, _ any) {}, make(byHand))
			if i.name == goZero.name { // the first timer would divide by zero
				require.NoError(t, err)
				w.Stop()
			} else {
				require.Error(t, err)
			}
		}
	})
	compare(t, 10, false, true, func(r *rig) bool {
		r.set("key", nil, 2)
		err := r.Drain(nil)
		synctest.Wait()
		r.tick(4)
		require.Equal(t, err != nil, len(r.ran["key"]) == 1, "Drain(nil) must be refused, or its timers are lost")
		return err != nil
	})
}
