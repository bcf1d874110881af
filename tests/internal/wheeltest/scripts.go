package wheeltest

import (
	"math/rand/v2"
	"sync"
	"time"
)

// RandomScript returns a random script of some operations.
func RandomScript(r *rand.Rand, ops string) string {
	script := make([]byte, 200)
	for i := range script {
		script[i] = ops[r.IntN(len(ops))]
	}
	return string(script)
}

// Received receives from c without waiting. It returns the time since start, to the
// microsecond, or "nothing".
func Received(c <-chan time.Time, start time.Time) string {
	select {
	case at := <-c:
		return at.Sub(start).Truncate(time.Microsecond).String()
	default:
		return "nothing"
	}
}

// Concurrently calls each function many times, in a goroutine of its own.
func Concurrently(functions ...func()) {
	var all sync.WaitGroup
	for _, f := range functions {
		all.Go(func() {
			for range 2000 {
				f()
			}
		})
	}
	all.Wait()
}
