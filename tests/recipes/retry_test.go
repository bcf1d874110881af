package recipes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// retry calls f until it succeeds or the attempts are used up, and then calls done with
// the last error of f. It waits between calls, twice as long each time, and shortens each
// wait by a random part, so that callers that failed at the same time don't retry at the
// same time. A wait is a timer, so a million waiting retries need no goroutines. wait must
// be a millisecond or more.
func retry(w *hierarchy.Wheel, attempts int, wait time.Duration, f func() error, done func(error)) {
	err := f()
	if err == nil || attempts <= 1 {
		done(err)
		return
	}
	_, setErr := w.AfterFunc(wait-rand.N(wait/4), func() { retry(w, attempts-1, 2*wait, f, done) })
	if setErr != nil { // the wheel is full or stopped
		done(errors.Join(err, setErr))
	}
}

func Example_retry() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	calls := 0
	flaky := func() error {
		if calls++; calls < 4 {
			return fmt.Errorf("call %d failed", calls)
		}
		return nil
	}
	retry(w, 5, time.Second, flaky, func(err error) {
		fmt.Println("after", calls, "calls:", err)
		fmt.Println("between 5.25 and 7 seconds:", m.Elapsed() > 5250*time.Millisecond && m.Elapsed() <= 7*time.Second)
	})
	m.Add(time.Minute)
	// Output:
	// after 4 calls: <nil>
	// between 5.25 and 7 seconds: true
}
