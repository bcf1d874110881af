package filelog_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// A record whose sync has failed may be on the disk or not, and the cache does not tell. Once the log was opened again,
// what is there is there for good.
func TestAFailedSyncOfARecord(t *testing.T) {
	for seed := range uint64(50) {
		disk := memdisk.New(seed)
		l := small(t, disk)
		fill(t, l, 1, 1)
		require.NoError(t, l.SetMark(t.Context(), storage.Mark{Number: 1}))
		disk.FailNth(memdisk.Sync, 1, syscall.EIO)
		err := l.Append(t.Context(), 1, fmt.Appendf(nil, "%300d", 2))
		require.ErrorIs(t, err, syscall.EIO)
		refusesAll(t, l, disk, err)
		requireLast(t, l, 1)
		<-l.Close()

		l = small(t, disk)
		requireLast(t, l, 2)
		requireLast(t, small(t, disk.Crash(memdisk.Crash{Seed: seed})), 2)
	}
}

// refusesAll checks that a log is lost: everything fails with an error that wraps why, and nothing is written.
func refusesAll(t *testing.T, l *filelog.Log, disk *memdisk.Disk, why error) {
	before := disk.Changes()
	for _, err := range []error{
		l.Append(t.Context(), 1, nil), l.SetMark(t.Context(), storage.Mark{Number: 9}), l.Trim(t.Context(), 2),
	} {
		require.ErrorIs(t, err, why)
	}
	_, problem := l.Problem()
	require.ErrorIs(t, problem, why)
	require.Equal(t, before, disk.Changes())
}

// The same of a mark.
func TestAFailedSyncOfAMark(t *testing.T) {
	for seed := range uint64(50) {
		disk := memdisk.New(seed)
		l := small(t, disk)
		require.NoError(t, l.SetMark(t.Context(), storage.Mark{Number: 1}))
		disk.FailNth(memdisk.Sync, 1, syscall.EIO)
		err := l.SetMark(t.Context(), storage.Mark{Number: 2})
		require.ErrorIs(t, err, syscall.EIO)
		refusesAll(t, l, disk, err)
		<-l.Close()

		small(t, disk)
		m, err := small(t, disk.Crash(memdisk.Crash{Seed: seed})).Mark(t.Context())
		require.NoError(t, err)
		require.Equal(t, storage.Mark{Number: 2}, m)
	}
}

// A record that could not be written may be complete but for its padding. It does not count when the message that took
// its number is in the next segment.
func TestARestOfARecordBeforeTheNextSegment(t *testing.T) {
	for seed := range uint64(100) {
		disk := memdisk.New(seed)
		l := small(t, disk)
		fill(t, l, 1, 2)
		disk.SetFault(func(op memdisk.Op) error {
			if op.Kind == memdisk.Write && op.Name == segment(1) {
				return syscall.ENOSPC
			}
			return nil
		})
		require.ErrorIs(t, l.Append(t.Context(), 2, nil), syscall.ENOSPC)
		require.NoError(t, l.Append(t.Context(), 2, make([]byte, 1000)))
		<-l.Close()
		l = small(t, disk)
		n := 0
		for _, err := range l.Read(t.Context(), 1, 3) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 3, n)
	}
}

// A deletion that fails has made some files free. They are not used while a crash can still bring their names back.
func TestADeletionThatFailsHalfWay(t *testing.T) {
	for n := 1; n < 40; n++ {
		disk := memdisk.New(uint64(n))
		l := small(t, disk)
		fill(t, l, 1, 80)
		disk.FailNth(memdisk.Rename, 2, syscall.EIO)
		require.ErrorIs(t, l.Trim(t.Context(), 80), syscall.EIO)
		if n%2 == 0 {
			require.NoError(t, l.Trim(t.Context(), 80))
			require.Len(t, segments(disk), 1, "it has made up for that")
		}
		disk.StopAfter(n)
		last := uint64(80)
		for l.Append(t.Context(), last, fmt.Appendf(nil, "%300d", last+1)) == nil {
			last++
		}
		require.True(t, disk.Ended())
		for _, how := range memdisk.Crashes(uint64(n), 8) {
			b, err := small(t, disk.Crash(how)).Bounds(t.Context())
			require.NoError(t, err)
			require.GreaterOrEqual(t, b.Last, last)
		}
	}
}

// A write that fails may have been done in part.
func TestAFailedWrite(t *testing.T) {
	for seed := range uint64(50) {
		disk := memdisk.New(seed)
		l := small(t, disk)
		fill(t, l, 1, 1)
		disk.FailNth(memdisk.Write, 1, syscall.EIO)
		err := l.Append(t.Context(), 1, fmt.Appendf(nil, "%300d", 2))
		require.ErrorIs(t, err, syscall.EIO)
		refusesAll(t, l, disk, err)
	}
}

// The same when it is unknown whether the new segment has its name.
func TestARenameThatFails(t *testing.T) {
	for seed := range uint64(50) {
		disk := memdisk.New(seed)
		l := small(t, disk)
		fill(t, l, 1, 2)
		disk.FailNth(memdisk.Rename, 1, syscall.EIO)
		err := l.Append(t.Context(), 2, make([]byte, 500))
		require.ErrorIs(t, err, syscall.EIO)
		refusesAll(t, l, disk, err)
		<-l.Close()
		l = small(t, disk)
		fill(t, l, 3, 5)
		requireLast(t, small(t, disk.Crash(memdisk.Crash{Seed: seed, AnyChanges: true})), 5)
	}
}
