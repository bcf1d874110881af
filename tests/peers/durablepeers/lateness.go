package main

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

var lateness = scenario{
	Name:  "late",
	Title: "Lateness",
	About: "200 timers are due in each second, at evenly spaced times, and were scheduled 2 s before.",
	Head:  []string{"timers", "late p50", "p99", "at most", "fired early", "by at most", "lost", "twice"},
	Run: func(ctx context.Context, r *rig, scale float64) ([]string, error) {
		const rate = 200
		v, _, err := r.pace(ctx, rate, scaled(10*rate, scale, rate/4))
		if err != nil {
			return nil, err
		}
		return append(append([]string{figures.Count(v.Acked)}, v.lateness()...), v.faults()...), nil
	},
}

var sustained = scenario{
	Name:  "sustained",
	Title: "5,000 a second",
	About: "256 callers schedule 5,000 timers a second, for some seconds, each of them due in 2 s. A system that can't keep up " +
		"gets fewer, and has 20 s more for those that are due. CPU is the share of a core that worker, callers and servers use.",
	Head: []string{"scheduled a second", "late p50", "p99", "at most", "fired early", "by at most", "lost, or not yet fired", "twice", "CPU"},
	Run: func(ctx context.Context, r *rig, scale float64) ([]string, error) {
		const rate = 5000
		before, begun := r.cpu(), time.Now()
		v, did, err := r.pace(ctx, rate, scaled(8*rate, scale, rate/10))
		if err != nil {
			return nil, err
		}
		cpu := float64(r.cpu()-before) / float64(time.Since(begun))
		return append(append(append([]string{did.rate()}, v.lateness()...), v.faults()...), shareText(cpu)), nil
	},
}

// pace schedules n timers at a rate, each due 2 s after its call, and waits until they have fired.
func (r *rig) pace(ctx context.Context, rate, n int) (verdict, loaded, error) {
	long := time.Duration(n) * time.Second / time.Duration(rate)
	did, err := r.caller.load(load{
		Do: "schedule", N: uint32(n), Callers: manyCallers, Rate: rate, In: 2 * time.Second, Record: true,
		Until: time.Now().Add(long + time.Second).UnixNano(),
	})
	if err == nil && did.Done == 0 {
		err = errNothing(did)
	}
	if err != nil {
		return verdict{}, did, err
	}
	if _, err := r.settle(ctx, 8*time.Second, time.Now().Add(22*time.Second)); err != nil {
		return verdict{}, did, err
	}
	return r.judge.verdict(), did, nil
}

// lateness returns the three cells about late timers.
func (v verdict) lateness() []string {
	if len(v.Late) == 0 {
		return []string{none, none, none}
	}
	return []string{
		figures.Duration(figures.Quantile(v.Late, 0.5)), figures.Duration(figures.Quantile(v.Late, 0.99)),
		figures.Duration(v.Late[len(v.Late)-1]),
	}
}

// faults returns the four cells about faults.
func (v verdict) faults() []string {
	by := none
	if v.Early > 0 {
		by = figures.Duration(v.Earliest)
	}
	return []string{figures.Count(v.Early), by, figures.Count(v.Lost), figures.Count(v.Twice)}
}
