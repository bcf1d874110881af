package filelog_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// The log never renames or removes a file that it has open, which Windows does not allow.
func TestOpenFilesStayInPlace(t *testing.T) {
	disk := memdisk.New(1)
	disk.LockOpenFiles()
	l := small(t, disk)
	fill(t, l, 1, 60)
	require.NoError(t, l.SetMark(t.Context(), storage.Mark{Number: 1}))
	require.NoError(t, l.Trim(t.Context(), 50))
	fill(t, l, 61, 100)
	<-l.Close()
	requireLast(t, small(t, disk), 100)
}

// What an interrupted deletion has left behind is removed by the next one.
func TestRestsOfADeletion(t *testing.T) {
	disk := memdisk.New(1)
	l := small(t, disk)
	fill(t, l, 1, 30)
	<-l.Close()
	second := segment(2)
	require.NotNil(t, disk.Data(second))
	disk.Put(second, nil)

	l = small(t, disk)
	b, err := l.Bounds(t.Context())
	require.NoError(t, err)
	_, err = l.Get(t.Context(), b.First)
	require.NoError(t, err)
	_, err = l.Get(t.Context(), b.First-1)
	require.ErrorIs(t, err, storage.ErrAbsent)
	first := segment(1)
	require.NotNil(t, disk.Data(first), "it is evidence until somebody trims")
	require.NoError(t, l.Trim(t.Context(), b.First))
	require.Nil(t, disk.Data(first))
	requireLast(t, l, 30)
}

// All directories that are made survive, not only the last one.
func TestDirectoriesAreDurable(t *testing.T) {
	for seed := range uint64(20) {
		disk := memdisk.New(seed)
		l, err := filelog.Open(disk, "a/b/c/d")
		require.NoError(t, err)
		<-l.Close()
		_, err = disk.Crash(memdisk.Crash{Seed: seed}).List("a/b/c/d")
		require.NoError(t, err)
	}
}

// A directory far above may be one that this process can't even read.
func TestADirectoryAboveThatIsNotOurs(t *testing.T) {
	disk := memdisk.New(1)
	require.NoError(t, disk.MkdirAll("home/me"))
	disk.SetFault(func(op memdisk.Op) error {
		if op.Name == "home" || op.Name == "." {
			return fs.ErrPermission
		}
		return nil
	})
	l, err := filelog.Open(disk, "home/me/data/timers")
	require.NoError(t, err)
	<-l.Close()
}
