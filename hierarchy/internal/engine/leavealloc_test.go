//go:build !lockorder

package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Setting, firing and calling a lone timer allocates nothing: the garbage collector can make a goroutine that
// allocates wait longer than a processor would.
func TestLeavingAllocatesNothing(t *testing.T) {
	c, clk := leaving()
	at := int64(0)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		after(c, 10*time.Millisecond, nop)
		at += int64(10 * time.Millisecond)
		ringAt(clk, at)
		clk.Left()
	}))
	require.NoError(t, shutdownNow(c))
}
