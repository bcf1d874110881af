package embedded

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatWriteErrorsMean(t *testing.T) {
	const line = "Filestore [a] Critical write error: write /d/2.blk: no space left on device"
	require.True(t, wasWriteError(line))
	require.True(t, wasWriteError("JetStream stream 'a > b' critical write error: oh"))
	require.False(t, wasWriteError("Filestore [a] no space left on device"))
	require.True(t, lacksRoom(line))
	require.True(t, lacksRoom("critical write error: write x: There is not enough space on the disk."))
	require.False(t, lacksRoom("critical write error: write /d/2.blk: input/output error"))
	require.False(t, lacksRoom("critical write error: sync /d/2.blk: no space left on device"))
}
