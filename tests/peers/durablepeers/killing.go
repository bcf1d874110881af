package main

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

const (
	killRate = 1000
	// killWait is the time within which all timers that were acknowledged must fire. asynq's leases of 30 s are
	// checked once a minute, and the next attempt comes 15 to 45 s later. River looks for stuck jobs every 30 s.
	killWait = 150 * time.Second
)

// killing kills the worker or the servers while timers are scheduled and fire.
func killing(victim string) scenario {
	c := scenario{
		Name:  "kill-" + victim,
		Title: "Kills of the " + victim,
		Head: []string{"calls", "acknowledged", "lost", "twice", "fired early", "meanwhile, the longest time without a call of a handler",
			"after the last call until all have fired"},
	}
	c.About = fmt.Sprintf("1,000 calls a second schedule a timer each, which is due in 2 s. Meanwhile the %s is killed "+
		"three times with SIGKILL, and started again at once. Fewer calls are made while all 256 callers wait for an answer. "+
		"Acknowledged timers that have not fired %v after the last call, or when the system has none left, are lost.", victim, killWait)
	if victim == "server" {
		c.About += " All servers of a system are killed together. What is in the system's memory survives that, unlike a loss of power."
	} else {
		c.About += " Callers in the worker's process are killed with it, and also make fewer calls."
	}
	c.Run = func(ctx context.Context, r *rig, scale float64) ([]string, error) {
		if len(r.servers) == 0 && victim == "server" {
			return []string{"there is none", none, none, none, none, none, none}, nil
		}
		return r.killing(ctx, victim, scaledTime(15*time.Second, scale, 3*time.Second))
	}
	return c
}

func (r *rig) killing(ctx context.Context, victim string, long time.Duration) ([]string, error) {
	k := &killer{rig: r, start: time.Now(), long: long}
	k.load()
	for _, share := range []int{4, 8, 12} {
		if err := sleepUntil(ctx, k.start.Add(long*time.Duration(share)/15)); err != nil {
			return nil, err
		}
		if err := k.kill(ctx, victim); err != nil {
			return nil, err
		}
	}
	if err := k.end(); err != nil {
		return nil, err
	}
	ended := time.Now()
	if err := r.settleAll(ctx, ended.Add(killWait)); err != nil {
		return nil, err
	}
	v := r.judge.verdict()
	after, gap := none, none
	if longest := r.judge.gap(ended); longest > 0 {
		gap = figures.Duration(longest)
	}
	if v.Lost == 0 {
		after = figures.Duration(max(0, time.Duration(r.judge.last-ended.UnixNano())))
	}
	return []string{
		figures.Count(v.Acked + k.others), figures.Count(v.Acked), r.lost(v.Lost), figures.Count(v.Twice), figures.Count(v.Early),
		gap, after,
	}, nil
}

// lost formats n, the number of timers that have not fired, and the number of them that the system still has.
func (r *rig) lost(n int) string {
	text := figures.Count(n)
	if n == 0 {
		return text
	}
	if left, err := r.caller.pending(); err == nil && left > 0 {
		text += fmt.Sprintf(", %d of them still pending", min(n, left))
	}
	return text
}

// killer kills processes while callers make calls.
type killer struct {
	*rig
	start  time.Time
	long   time.Duration
	calls  chan error // the results of the load that is running
	others int        // number of calls that were not acknowledged
}

// load starts the callers, which make calls until the end.
func (k *killer) load() {
	done := time.Since(k.start)
	first := uint32(done.Seconds() * killRate)
	total := uint32(k.long.Seconds() * killRate)
	k.calls = make(chan error, 1)
	go func(caller *node) {
		did, err := caller.load(load{
			Do: "schedule", First: first, N: total - min(first, total), Callers: manyCallers, Rate: killRate, In: 2 * time.Second,
			Record: true, Until: k.start.Add(k.long + time.Second).UnixNano(),
		})
		k.others += did.Failed
		k.calls <- err
	}(k.caller)
}

func (k *killer) kill(ctx context.Context, victim string) error {
	if victim == "server" {
		k.killServers()
		return k.startServers(ctx)
	}
	k.killWorker()
	if !k.sys.Embedded {
		return k.startWorker()
	}
	<-k.calls // the callers ended with the worker
	if err := k.startWorker(); err != nil {
		return err
	}
	k.load()
	return nil
}

func (k *killer) end() error { return <-k.calls }

// settleAll waits until all timers have fired. It also returns when no timer fires any more and the system reports that
// none is pending.
func (r *rig) settleAll(ctx context.Context, until time.Time) error {
	for {
		all, err := r.settle(ctx, 4*time.Second, until)
		if all || err != nil || time.Now().After(until) {
			return err
		}
		if n, err := r.caller.pending(); err == nil && n == 0 {
			return nil
		}
	}
}
