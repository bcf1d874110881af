// Package long is for tests that take long and seldom fail. `go test ./...` leaves them out, or lets them do less;
// EPICYCLE_LONG=1 in the environment runs them whole.
package long

import (
	"os"
	"testing"
)

// On reports whether long tests run whole.
func On() bool { return os.Getenv("EPICYCLE_LONG") != "" }

// Only skips a test that is left out.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("takes long: EPICYCLE_LONG=1 runs it")
	}
}

// Of is how many of n seeds a test has: all, or a third.
func Of(n uint64) uint64 {
	if On() {
		return n
	}
	return n / 3
}

// Or is how many a test has: few, or many if long tests run whole.
func Or(few, many int) int {
	if On() {
		return many
	}
	return few
}
