package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

var scheduling = scenario{
	Name:  "schedule",
	Title: "Scheduling",
	About: "Callers schedule timers that are due in an hour, each after the answer to its previous call. The last column is " +
		"the CPU time of worker, callers and servers together for each timer, with 256 callers.",
	Head: []string{"an answer comes", "16 callers: a second", "p50", "p99", "256 callers: a second", "p50", "p99", "CPU a timer"},
	Run: func(_ context.Context, r *rig, scale float64) ([]string, error) {
		cells := []string{r.sys.Answer}
		first := uint32(0)
		var cpu time.Duration
		if _, err := r.warmUp(); err != nil {
			return nil, err
		}
		for _, callers := range []int{16, manyCallers} {
			before := r.cpu()
			did, err := r.caller.load(load{
				Do: "schedule", First: first, N: 1 << 30, Callers: callers, Due: dueInAnHour(),
				Until: time.Now().Add(scaledTime(4*time.Second, scale, 100*time.Millisecond)).UnixNano(),
			})
			if err == nil && did.Done == 0 {
				err = errNothing(did)
			}
			if err != nil {
				return nil, err
			}
			cpu = (r.cpu() - before) / time.Duration(did.Done)
			first += uint32(did.Done + did.Failed)
			cells = append(cells, did.rate(), figures.Duration(did.P50), figures.Duration(did.P99))
		}
		return append(cells, cpuText(cpu)), nil
	},
}

func cpuText(cpu time.Duration) string {
	if cpu == 0 {
		return none
	}
	return figures.Duration(cpu)
}

// rate formats the number of operations in a second, and the number of operations that have failed.
func (l loaded) rate() string {
	text := figures.Count(int(float64(l.Done) / l.Elapsed.Seconds()))
	if l.Failed > 0 {
		text += fmt.Sprintf(" (%d failed)", l.Failed)
	}
	return text
}

var errNone = errors.New("nothing was done")

func errNothing(l loaded) error { return fmt.Errorf("%w: %d failed: %s", errNone, l.Failed, l.Failure) }
