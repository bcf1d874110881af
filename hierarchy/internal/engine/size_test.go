package engine

import (
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Two processors that use two shards do not meet in a cache line.
func TestShardFillsCacheLines(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("fields are smaller there, and padding is for 64 bits")
	}
	require.Zero(t, (unsafe.Sizeof(Shard[func()]{})-unsafe.Sizeof(lockOrder{}))%64)
}
