package main

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

var cancelling = scenario{
	Name:  "cancel",
	Title: "Cancelling what is about to fire",
	About: "500 timers a second, each of which is cancelled 3, 2, 1 or 0 ms before it is due. *Yes* means that it was " +
		"cancelled in time: its handler was not called, and won't be. If it was called before such an answer, or after it, the answer was wrong.",
	Head: []string{"timers", "yes", "no", "failed", "yes, and called before", "yes, and called after", "neither yes nor called"},
	Run: func(ctx context.Context, r *rig, scale float64) ([]string, error) {
		return r.cancelling(ctx, scaled(4000, scale, 200), scaledTime(fillLimit, scale, time.Second))
	},
}

func (r *rig) cancelling(ctx context.Context, n int, limit time.Duration) ([]string, error) {
	const step = 2 * time.Millisecond
	n, due, err := r.fillAhead(n, limit, step)
	if err != nil {
		return nil, err
	}
	did, err := r.caller.load(load{
		Do: "cancel", N: uint32(n), Callers: 64, Due: due.UnixNano(), Step: step, Near: true, Record: true,
	})
	if err != nil {
		return nil, err
	}
	if _, err := r.settle(ctx, 6*time.Second, time.Now().Add(20*time.Second)); err != nil {
		return nil, err
	}
	v := r.judge.verdict()
	return []string{
		figures.Count(n), figures.Count(did.Done), figures.Count(did.Refused), figures.Count(did.Failed), figures.Count(v.Before), figures.Count(v.After),
		figures.Count(v.Lost),
	}, nil
}
