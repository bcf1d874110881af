package clock_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The local time zone is Tokyo's, so that a time in it differs from one in UTC. It is set before
// any test, as goroutines of any test may read the clock.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("Tokyo", 9*3600)
	goleak.VerifyTestMain(m)
}
