package main

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

const (
	// fillLimit is the longest time in which timers are scheduled, before they are due.
	fillLimit = 12 * time.Second
	// burstLimit is the longest time that the timers may take to fire.
	burstLimit = 20 * time.Second
)

// burst is the scenario of n timers that are due at one moment.
func burst(n int) scenario {
	count := figures.Count(n)
	return scenario{
		Name:  fmt.Sprintf("burst%dk", n/1000),
		Title: count + " due at once",
		About: fmt.Sprintf("%s timers, all due at the same moment, or as many as 256 callers can schedule before it. Handlers return at once. "+
			"The count ends %v later.", count, burstLimit),
		Head: []string{"timers", "until half have fired", "until all have", "fired early", "by at most", "lost, or not yet fired", "twice"},
		Run: func(ctx context.Context, r *rig, scale float64) ([]string, error) {
			_, due, err := r.fillAhead(n, scaledTime(fillLimit, scale, 200*time.Millisecond), 0)
			if err != nil {
				return nil, err
			}
			if err := sleepUntil(ctx, due); err != nil {
				return nil, err
			}
			if _, err := r.settle(ctx, 8*time.Second, due.Add(burstLimit)); err != nil {
				return nil, err
			}
			v := r.judge.verdict()
			return append([]string{figures.Count(v.Acked), v.until(v.Acked / 2), v.until(v.Acked)}, v.faults()...), nil
		},
	}
}

// until formats the time after which n timers had fired.
func (v verdict) until(n int) string {
	switch i := n - v.Early; {
	case i <= 0:
		return "before that"
	case i > len(v.Late):
		return "not in " + burstLimit.String()
	default:
		return figures.Duration(v.Late[i-1])
	}
}

func sleepUntil(ctx context.Context, t time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(t)):
		return nil
	}
}
