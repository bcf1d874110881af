package main

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

var moving = scenario{
	Name:  "move",
	Title: "Moving and cancelling",
	About: "256 callers move timers that are due in an hour, then cancel them.",
	Head:  []string{"moves a second", "p50", "p99", "cancels a second", "p50", "p99"},
	Run: func(_ context.Context, r *rig, scale float64) ([]string, error) {
		n, err := r.fill(scaled(300_000, scale, 500), scaledTime(6*time.Second, scale, 200*time.Millisecond), dueInAnHour(), 0, false)
		if err != nil {
			return nil, err
		}
		var cells []string
		for _, do := range []string{"move", "cancel"} {
			did, err := r.caller.load(load{
				Do: do, N: uint32(n), Callers: manyCallers, Due: dueInAnHour(),
				Until: time.Now().Add(scaledTime(3*time.Second, scale, 100*time.Millisecond)).UnixNano(),
			})
			if err == nil && did.Done == 0 {
				err = errNothing(did)
			}
			if err != nil {
				return nil, err
			}
			cells = append(cells, did.rate(), figures.Duration(did.P50), figures.Duration(did.P99))
		}
		return cells, nil
	},
}
