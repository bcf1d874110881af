package main

import (
	"context"
	"time"
)

// scenario is a table of the page. Each scenario has a file of its own.
type scenario struct {
	Name  string // name for the flag -only
	Title string
	About string
	Head  []string // head of the table, without the column of systems
	// Run runs the scenario with a new rig, and returns the cells of the system.
	Run func(ctx context.Context, r *rig, scale float64) ([]string, error)
}

func scenarios() []scenario {
	return []scenario{
		scheduling, moving, lateness, burst(20_000), burst(100_000), sustained,
		killing("worker"), killing("server"), cancelling, resting,
	}
}

// scaled returns n*scale, but at least least.
func scaled(n int, scale float64, least int) int { return max(least, int(float64(n)*scale)) }

func scaledTime(d time.Duration, scale float64, least time.Duration) time.Duration {
	return max(least, time.Duration(float64(d)*scale))
}

const none = "–"

// dueInAnHour returns a due time for timers that are not to fire during a run.
func dueInAnHour() int64 { return time.Now().Add(time.Hour).UnixNano() }

const manyCallers = 256

// warmUpFirst is a key above all others.
const warmUpFirst = 910_000_000

// warmUp makes connections, and runs the code once before it is measured. It returns the number of timers that can be
// scheduled in a second.
func (r *rig) warmUp() (rate float64, err error) {
	for i := range uint32(2) {
		did, err := r.caller.load(load{
			Do: "schedule", First: warmUpFirst + i*2*manyCallers, N: 2 * manyCallers, Callers: manyCallers, Due: dueInAnHour(),
		})
		if err == nil && did.Done == 0 {
			err = errNothing(did)
		}
		if err != nil {
			return 0, err
		}
		rate = float64(did.Done) / did.Elapsed.Seconds()
	}
	return rate, nil
}

// fillAhead schedules n timers, or as many as limit permits, and returns their number. The first timer is due when all
// are scheduled, and each further timer a step later.
func (r *rig) fillAhead(n int, limit, step time.Duration) (done int, due time.Time, err error) {
	rate, err := r.warmUp()
	if err != nil {
		return 0, due, err
	}
	const spare = 1.5 // the rate varies
	need := min(limit, time.Duration(spare*float64(n)/rate*float64(time.Second)))
	due = time.Now().Add(need + time.Second)
	done, err = r.fill(n, need, due.UnixNano(), step, true)
	return done, due, err
}

// fill schedules n timers, or as many as limit permits.
func (r *rig) fill(n int, limit time.Duration, due int64, step time.Duration, record bool) (int, error) {
	did, err := r.caller.load(load{
		Do: "schedule", N: uint32(n), Callers: manyCallers, Due: due, Step: step, Record: record,
		Until: time.Now().Add(limit).UnixNano(),
	})
	if err == nil && did.Done == 0 {
		err = errNothing(did)
	}
	return did.Done, err
}

// settle waits until all acknowledged timers have fired. It gives up when nothing has fired for the time idle, or at
// the time until. It reports whether all have fired.
func (r *rig) settle(ctx context.Context, idle time.Duration, until time.Time) (bool, error) {
	moved, before := time.Now(), -1
	for {
		if err := r.look(); err != nil {
			return false, err
		}
		if r.judge.firsts == r.judge.acked {
			return true, nil
		}
		now := time.Now()
		if r.judge.firsts != before {
			moved, before = now, r.judge.firsts
		}
		if now.Sub(moved) > idle || now.After(until) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
