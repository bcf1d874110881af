package filelog_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

const dir = "data/timers"

// small opens a log with small files.
func small(t *testing.T, d *memdisk.Disk) *filelog.Log {
	l, err := filelog.OpenSmall(d, dir)
	require.NoError(t, err)
	t.Cleanup(func() { <-l.Close() })
	return l
}

// segment returns the name of a segment.
func segment(place int) string { return filepath.Join(dir, fmt.Sprintf("%016x.seg", place)) }

// segments returns the names of the segments.
func segments(disk *memdisk.Disk) (names []string) {
	for _, name := range disk.Files() {
		if filepath.Ext(name) == ".seg" {
			names = append(names, name)
		}
	}
	return names
}

// fill appends messages with the numbers from from to to, each about a third of the smallest segment.
func fill(t *testing.T, l *filelog.Log, from, to uint64) {
	for n := from; n <= to; n++ {
		require.NoError(t, l.Append(t.Context(), n-1, fmt.Appendf(nil, "%300d", n)))
	}
}

// requireLast checks where a log ends, and that its last message is the right one.
func requireLast(t *testing.T, l *filelog.Log, last uint64) {
	b, err := l.Bounds(t.Context())
	require.NoError(t, err)
	require.Equal(t, last, b.Last)
	data, err := l.Get(t.Context(), last)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%300d", last), string(data))
}
