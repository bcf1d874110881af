package task

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry says how often a timer is tried, and what the pauses after failed attempts are. A field that is 0 is that of the
// server.
type Retry struct {
	Attempts int           // after so many failed attempts the timer is dead
	Backoff  time.Duration // after the first one; it is doubled each time
	Most     time.Duration // the longest pause
}

// Limits of retries.
const (
	// MaxAttempts is the largest number of attempts, and small enough for what is never decoded to die at all.
	MaxAttempts    = 1000
	DefaultBackoff = time.Second
	DefaultMost    = 10 * time.Minute
	maxPause       = 7 * 24 * time.Hour
)

// IsZero reports whether all is as the server has it.
func (r *Retry) IsZero() bool { return *r == Retry{} }

// Check returns an error if a retry is not valid.
func (r *Retry) Check() error {
	if r.Attempts < 0 || r.Attempts > MaxAttempts {
		return fmt.Errorf("attempts: %d is not between 1 and %d", r.Attempts, MaxAttempts)
	}
	for name, d := range map[string]time.Duration{"backoff": r.Backoff, "most": r.Most} {
		if d != 0 && (d < time.Millisecond || d > maxPause) {
			return fmt.Errorf("%s: %v is not between 1ms and %v", name, d, maxPause)
		}
	}
	if r.Backoff != 0 && r.Most != 0 && r.Backoff > r.Most {
		return fmt.Errorf("backoff: %v is more than most, %v", r.Backoff, r.Most)
	}
	return nil
}

// HasPauses reports whether the pauses are others than those of the server.
func (r *Retry) HasPauses() bool { return r.Backoff != 0 || r.Most != 0 }

// Pause returns the pause after a failed attempt, counted from 1: the first one doubled each time up to the longest one,
// half of it random.
func (r *Retry) Pause(attempt int) time.Duration {
	first, most := cmp.Or(r.Backoff, DefaultBackoff), cmp.Or(r.Most, DefaultMost)
	switch {
	case r.Most == 0:
		most = max(most, first)
	case r.Backoff == 0:
		first = min(first, most)
	}
	d := most
	if n := max(0, attempt-1); n < 40 && first <= most>>n {
		d = first << n
	}
	return d/2 + rand.N(d/2+1)
}
