//go:build unix

package steps

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A busy loop is noticed, and a long wait is not one.
func TestWatch(t *testing.T) {
	late := make(chan time.Duration, 1)
	defer watch(time.Millisecond, 500*time.Millisecond, func(took time.Duration) { late <- took })()
	for begun := work(); work()-begun < 50*time.Millisecond; {
	}
	require.Empty(t, late)
	for len(late) == 0 {
	}
	require.Greater(t, <-late, 500*time.Millisecond)
}
