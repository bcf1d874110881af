package filelog_test

import (
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// A lack of open files loses nothing, whatever needs one.
func TestALackOfOpenFiles(t *testing.T) {
	for _, kind := range []memdisk.Kind{memdisk.Open, memdisk.Create} {
		for n := 1; ; n++ {
			disk := memdisk.New(1)
			l := small(t, disk)
			disk.FailNth(kind, n, syscall.EMFILE)
			for number := range uint64(20) {
				appendTwice(t, l, number)
				markTwice(t, l, number)
			}
			disk.SetFault(nil)
			requireLast(t, l, 20)
			requireLast(t, small(t, disk.Crash(memdisk.Crash{Seed: uint64(n), AnyChanges: true})), 20)
			if disk.Faults() == 0 {
				break
			}
		}
	}
}

func appendTwice(t *testing.T, l *filelog.Log, last uint64) {
	if err := l.Append(t.Context(), last, fmt.Appendf(nil, "%300d", last+1)); err != nil {
		require.ErrorContains(t, err, "too many files are open")
		fill(t, l, last+1, last+1)
	}
}

func markTwice(t *testing.T, l *filelog.Log, number uint64) {
	if err := l.SetMark(t.Context(), storage.Mark{Number: number}); err != nil {
		require.ErrorContains(t, err, "too many files are open")
		require.NoError(t, l.SetMark(t.Context(), storage.Mark{Number: number}))
	}
}

// Reading fails then, but the log is not said to be damaged.
func TestALackOfOpenFilesWhileReading(t *testing.T) {
	disk := memdisk.New(1)
	l := small(t, disk)
	fill(t, l, 1, 20)
	for _, number := range []uint64{1, 20} {
		disk.FailNth(memdisk.Open, 1, syscall.EMFILE)
		_, err := l.Get(t.Context(), number)
		require.ErrorIs(t, err, syscall.EMFILE)
		require.NotErrorIs(t, err, storage.ErrDamaged)
		disk.FailNth(memdisk.Read, 1, syscall.EIO)
		_, err = l.Get(t.Context(), number)
		require.ErrorIs(t, err, syscall.EIO)
		require.NotErrorIs(t, err, storage.ErrDamaged)
	}
}

// On a full disk, the next segment is tried in advance only once, as that writes much.
func TestAFullDiskIsNotFilledAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := memdisk.New(1)
		l, err := filelog.OpenSmall(disk, dir)
		require.NoError(t, err)
		fill(t, l, 1, 1)
		disk.SetRoom(3 << 10)
		before := disk.Changes()
		fill(t, l, 2, 2)
		synctest.Wait()
		for last := uint64(2); last < 6; last++ {
			require.NoError(t, l.Append(t.Context(), last, nil))
			synctest.Wait()
		}
		require.Equal(t, []string{segment(1)}, disk.Files(), "what could not be made is removed")
		const appends, spare = 2 * 5, 5 // create, write, write, write, remove
		require.LessOrEqual(t, disk.Changes()-before, appends+spare)
		<-l.Close()
	})
}

// When a new segment has its name, but can't be opened, the one before it goes on, for messages that still fit. The new
// one must not come back, as it would hide them.
func TestALackOfOpenFilesForANewSegment(t *testing.T) {
	for seed := range uint64(50) {
		disk := memdisk.New(seed)
		l := small(t, disk)
		fill(t, l, 1, 2)
		lack := syscall.EMFILE
		disk.SetFault(func(op memdisk.Op) error {
			if op.Kind == memdisk.Open && op.Name == segment(2) {
				return lack
			}
			return nil
		})
		require.ErrorIs(t, l.Append(t.Context(), 2, make([]byte, 500)), lack)
		require.NoError(t, l.Append(t.Context(), 2, nil))
		b, err := small(t, disk.Crash(memdisk.Crash{Seed: seed, AnyChanges: true})).Bounds(t.Context())
		require.NoError(t, err)
		require.Equal(t, uint64(3), b.Last)
	}
}
