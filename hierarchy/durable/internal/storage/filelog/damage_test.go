package filelog_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// A later version of the format is not said to be damage.
func TestAnotherVersion(t *testing.T) {
	disk := memdisk.New(1)
	l := small(t, disk)
	fill(t, l, 1, 1)
	<-l.Close()
	name := segment(1)
	data := disk.Data(name)
	filelog.SetVersion(data, 2)
	disk.Put(name, data)
	_, err := filelog.Open(disk, dir)
	require.ErrorContains(t, err, "the log has the version 2, and this program knows 1")
	require.False(t, errors.Is(err, storage.ErrDamaged))
}

// Records of another log are none, although they have the right numbers.
func TestRecordsOfAnotherLog(t *testing.T) {
	disks := []*memdisk.Disk{memdisk.New(1), memdisk.New(2)}
	for i, disk := range disks {
		l := small(t, disk)
		require.NoError(t, l.Append(t.Context(), 0, fmt.Appendf(nil, "log %d", i)))
		<-l.Close()
	}
	ours, theirs := disks[0].Data(segment(1)), disks[1].Data(segment(1))
	disks[0].Put(segment(1), append(ours[:32:32], theirs[32:]...))
	l := small(t, disks[0])
	b, err := l.Bounds(t.Context())
	require.NoError(t, err)
	require.Zero(t, b.Last)
}

// A segment may be cut off, even while the log is open.
func TestASegmentIsCutOff(t *testing.T) {
	disk := memdisk.New(1)
	l := small(t, disk)
	fill(t, l, 1, 20)
	<-l.Close()
	whole := disk.Data(segment(1))
	for size := range whole {
		disk.Put(segment(1), whole)
		l := small(t, disk)
		disk.Put(segment(1), whole[:size])
		_, err := l.Get(t.Context(), 3)
		if err != nil {
			require.ErrorIs(t, err, storage.ErrDamaged)
		}
		<-l.Close()
		_, err = filelog.OpenSmall(disk, dir)
		require.ErrorIs(t, err, storage.ErrDamaged, "this is noticed even if nobody reads it")
	}
}

// The names of segments may be mixed up, when somebody copies files.
func TestSwappedSegments(t *testing.T) {
	disk := memdisk.New(1)
	l := small(t, disk)
	fill(t, l, 1, 20)
	<-l.Close()
	names := segments(disk)
	first, last := names[0], names[len(names)-1]
	a, b := disk.Data(first), disk.Data(last)
	disk.Put(first, b)
	disk.Put(last, a)
	_, err := filelog.Open(disk, dir)
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.ErrorContains(t, err, "the segment before it")
}

// A message may be altered while the log is open.
func TestAMessageIsAltered(t *testing.T) {
	disk := memdisk.New(1)
	l := small(t, disk)
	fill(t, l, 1, 2)
	disk.Flip(segment(1), 100, 1)
	_, err := l.Get(t.Context(), 1)
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.ErrorContains(t, err, "message 1 at 32 is not what was written")
}
