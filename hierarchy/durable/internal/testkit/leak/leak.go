// Package leak finds goroutines that tests leave behind.
package leak

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines have to end. Those of connections end a while after these are closed, on a machine
// that is busy later than goleak waits by itself, which is half a second.
const patience = time.Minute

// Main runs the tests, and ends the process. It fails if goroutines are left.
func Main(m *testing.M) { os.Exit(Check(m.Run())) }

// Check returns the code of a process whose tests have returned code: another one if goroutines are left.
func Check(code int, options ...goleak.Option) int {
	if code != 0 {
		return code
	}
	err := goleak.Find(options...)
	for begun := time.Now(); err != nil && time.Since(begun) < patience; {
		err = goleak.Find(options...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "goroutines are left:", err)
		return 1
	}
	return 0
}
