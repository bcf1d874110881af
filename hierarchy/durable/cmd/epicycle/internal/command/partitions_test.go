package command

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A new directory has as many logs as the machine can use, and keeps them on another machine.
func TestPartitionsOfADirectory(t *testing.T) {
	before := runtime.GOMAXPROCS(6)
	defer runtime.GOMAXPROCS(before)
	dir := t.TempDir() + "/timers"
	for _, processors := range []int{6, 1, 64} {
		runtime.GOMAXPROCS(processors)
		s := serve(t, "-dir", dir)
		require.Equal(t, 3, s.count("durable_partitions_owned"))
		s.end()
	}
	for processors, want := range map[int]int{1: 1, 2: 1, 64: 8} {
		runtime.GOMAXPROCS(processors)
		require.Equal(t, want, serve(t).count("durable_partitions_owned"))
	}
	require.Equal(t, 5, serve(t, "-partitions", "5").count("durable_partitions_owned"))
}
