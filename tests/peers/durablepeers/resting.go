package main

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

var resting = scenario{
	Name:  "rest",
	Title: "At rest, and back again",
	About: "Up to 200,000 timers that are due in an hour, with values of 100 bytes, or as many as 256 callers schedule in 12 s. " +
		"Memory is that of worker, caller and servers, disk the growth of the files. CPU is the share of a core that all processes use " +
		"during some seconds without calls. Then a timer is scheduled that is due at once: the first time is until its handler is called. " +
		"The worker is killed and started again, then the servers: these times are from the kill until the handler of " +
		"another such timer is called.",
	Head: []string{"timers", "memory", "memory a timer", "disk", "idle CPU", "a timer due at once", "back after a kill of the worker", "of the servers"},
	Run: func(ctx context.Context, r *rig, scale float64) ([]string, error) {
		return r.resting(ctx, 200_000, scaledTime(fillLimit, scale, 200*time.Millisecond),
			scaledTime(5*time.Second, scale, 500*time.Millisecond))
	},
}

const (
	probes = 900_000_000 // keys of timers that are due at once
	// probeLimit is the longest time that a probe may take.
	probeLimit = 40 * time.Second
)

func (r *rig) resting(ctx context.Context, n int, limit, idle time.Duration) ([]string, error) {
	empty, disk := r.memory(), r.disk()
	n, err := r.fill(n, limit, dueInAnHour(), 0, false)
	if err != nil {
		return nil, err
	}
	if err := sleepUntil(ctx, time.Now().Add(idle/2)); err != nil { // lets work that follows the last answer end
		return nil, err
	}
	memory, grown := r.memory(), r.disk()-disk
	before, begun := r.cpu(), time.Now()
	if err := sleepUntil(ctx, begun.Add(idle)); err != nil {
		return nil, err
	}
	share := float64(r.cpu()-before) / float64(time.Since(begun))
	cells := []string{
		figures.Count(n), sizeText(memory), sizeText((memory - empty) / int64(n)), sizeText(grown), shareText(share),
	}
	probes, err := r.probes(ctx)
	return append(cells, probes...), err
}

// probes measures how long it takes until a new timer has fired: first with all processes running, then after a kill of
// the worker, and then after a kill of the servers.
func (r *rig) probes(ctx context.Context) (cells []string, err error) {
	for i, kill := range []func() error{
		func() error { return nil },
		func() error { r.killWorker(); return r.startWorker() },
		func() error { r.killServers(); return r.startServers(ctx) },
	} {
		if i == 2 && len(r.servers) == 0 {
			return append(cells, none), nil
		}
		begun := time.Now()
		if err := kill(); err != nil {
			return nil, err
		}
		took, err := r.probe(ctx, uint32(probes+10_000*i), begun)
		if err != nil {
			return nil, err
		}
		cells = append(cells, took)
	}
	return cells, nil
}

// probe tries to schedule a timer until the scheduling is acknowledged, and waits for the call of the handler.
func (r *rig) probe(ctx context.Context, first uint32, begun time.Time) (string, error) {
	until := begun.Add(probeLimit)
	for key := first; time.Now().Before(until); key++ {
		did, err := r.caller.load(load{Do: "schedule", First: key, N: 1, Callers: 1, In: 10 * time.Millisecond, Record: true})
		if err != nil {
			return "", err
		}
		if did.Done == 0 {
			continue
		}
		all, err := r.settle(ctx, probeLimit, until)
		if err != nil {
			return "", err
		}
		if all {
			return figures.Duration(time.Duration(r.judge.last - begun.UnixNano())), nil
		}
	}
	return fmt.Sprintf("not in %v", probeLimit), nil
}

func sizeText(bytes int64) string {
	switch {
	case bytes <= 0:
		return none
	case bytes < 10_000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%d kB", (bytes+500)/1000)
	default:
		return fmt.Sprintf("%d MB", (bytes+500_000)/1_000_000)
	}
}

func shareText(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
