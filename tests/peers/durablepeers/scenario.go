package main

import (
	"context"
	"time"
)

// scenario is a table of the page. Each has a file.
type scenario struct {
	Name  string // for -only
	Title string
	About string
	Head  []string // without the name of the system
	// Run returns the cells of a system. The rig is new.
	Run func(ctx context.Context, r *rig, scale float64) ([]string, error)
}

func scenarios() []scenario {
	return []scenario{
		scheduling,
	}
}

// scaled returns a share of a number, at least least.
func scaled(n int, scale float64, least int) int { return max(least, int(float64(n)*scale)) }

func scaledTime(d time.Duration, scale float64, least time.Duration) time.Duration {
	return max(least, time.Duration(float64(d)*scale))
}

const none = "–"

// dueInAnHour is for timers that are not to fire.
func dueInAnHour() int64 { return time.Now().Add(time.Hour).UnixNano() }

const manyCallers = 256

// fill schedules n timers, or as many as can be in the time.
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

// settle waits until all timers have fired that were acknowledged, or nothing has fired for long, or until the limit
// has passed since begun. It reports whether all have fired.
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
