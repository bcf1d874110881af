package filelog_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// While a read waits for the disk, Close returns, and says that a file is open.
func TestCloseDuringARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := meanwhile{memdisk.New(1), func(string) {}}
		l, err := filelog.OpenSmall(&disk, dir)
		require.NoError(t, err)
		fill(t, l, 1, 1)
		answer := make(chan bool)
		disk.open = func(string) { <-answer }
		read := make(chan error, 1)
		go func() {
			_, err := l.Get(t.Context(), 1)
			read <- err
		}()
		synctest.Wait()
		closed := l.Close()
		early := true
		select {
		case <-closed:
		case <-time.After(time.Hour):
			early = false
		}
		close(answer)
		<-closed
		require.False(t, early, "a file was open")
		require.Zero(t, disk.OpenFiles())
		require.NoError(t, <-read)
	})
}

// What waits for a disk that hangs is not written any more when the log was closed meanwhile.
func TestWaitingAppendsOfAClosedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := memdisk.New(1)
		l, err := filelog.OpenSmall(disk, dir)
		require.NoError(t, err)
		release := disk.Hang()
		appended := make(chan error, 10)
		for range cap(appended) {
			go func() { appended <- l.Append(t.Context(), 0, nil) }()
		}
		synctest.Wait()
		closed := l.Close()
		release()
		<-closed
		done := 0
		for range cap(appended) {
			if err := <-appended; err == nil {
				done++
			} else {
				require.ErrorContains(t, err, "closed")
			}
		}
		require.Equal(t, 1, done, "only the one that had begun")
	})
}

// meanwhile is a disk on which something happens before a file is opened.
type meanwhile struct {
	*memdisk.Disk
	open func(name string)
}

func (m meanwhile) Open(name string) (filelog.File, error) {
	m.open(name)
	return m.Disk.Open(name)
}

// A message that is deleted while it is being read is absent, and not damaged.
func TestTrimDuringARead(t *testing.T) {
	nothing := func(string) {}
	disk := meanwhile{memdisk.New(1), nothing}
	l, err := filelog.OpenSmall(&disk, dir)
	require.NoError(t, err)
	defer l.Close()
	fill(t, l, 1, 40)
	disk.open = func(name string) {
		if name == segment(1) {
			disk.open = nothing
			require.NoError(t, l.Trim(t.Context(), 40))
		}
	}
	_, err = l.Get(t.Context(), 1)
	require.ErrorIs(t, err, storage.ErrAbsent)
	require.NotErrorIs(t, err, storage.ErrDamaged)
}
