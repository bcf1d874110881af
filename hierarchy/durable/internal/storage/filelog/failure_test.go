package filelog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
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
