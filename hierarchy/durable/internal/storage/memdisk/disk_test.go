package memdisk

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

var _ filelog.FS = (*Disk)(nil)

const seeds = 200

// made returns a disk with the durable file d/f, and the file.
func made(t *testing.T, data string) (*Disk, filelog.File) {
	d := New(1)
	require.NoError(t, d.MkdirAll("d"))
	f, err := d.Create("d/f")
	require.NoError(t, err)
	put(t, f, data, 0)
	require.NoError(t, f.Sync())
	require.NoError(t, d.SyncDir("d"))
	require.NoError(t, d.SyncDir("."))
	return d, f
}

func put(t *testing.T, f filelog.File, data string, at int64) {
	_, err := f.WriteAt([]byte(data), at)
	require.NoError(t, err)
}

// outcomes returns what a file may contain after a loss of power.
func outcomes(d *Disk, name string, torn bool) map[string]bool {
	all := map[string]bool{}
	for seed := range uint64(seeds) {
		all[string(d.Crash(Crash{Seed: seed, Torn: torn, AnyChanges: true}).Data(name))] = true
	}
	return all
}

func TestSyncedIsDurable(t *testing.T) {
	d, _ := made(t, "abc")
	require.Equal(t, map[string]bool{"abc": true}, outcomes(d, "d/f", false))
	require.Equal(t, map[string]bool{"abc": true}, outcomes(d, "d/f", true))
}

func TestUnsyncedSectorsAreOldOrNew(t *testing.T) {
	old := string(bytes.Repeat([]byte("o"), 2*sector))
	d, f := made(t, old)
	put(t, f, string(bytes.Repeat([]byte("n"), 2*sector)), 0)
	all := outcomes(d, "d/f", false)
	require.Len(t, all, 4)
	for data := range all {
		for at := 0; at < len(data); at += sector {
			require.Empty(t, strings.Trim(data[at:at+sector], data[at:at+1]), "a sector is written whole")
		}
	}
}

func TestAWriteIsTornAtAnyByte(t *testing.T) {
	d, f := made(t, "....")
	put(t, f, "abcd", 0)
	want := map[string]bool{"....": true, "a...": true, "ab..": true, "abc.": true, "abcd": true}
	require.Equal(t, want, outcomes(d, "d/f", true))
}

func TestASizeIsLostWithoutASync(t *testing.T) {
	d, f := made(t, "a")
	put(t, f, "b", 1)
	require.Equal(t, map[string]bool{"a": true, "a\x00": true, "ab": true}, outcomes(d, "d/f", false))
}

// After a sync that failed, another one does nothing for what was not written again.
func TestSyncAfterAFailedOne(t *testing.T) {
	lost := false
	for seed := range uint64(10) { // what has reached the disk is up to the disk's own chance
		d, f := made(t, "....")
		d.m.rng = newRand(seed)
		put(t, f, "abcd", 0)
		d.FailNth(Sync, 1, syscall.EIO)
		require.ErrorIs(t, f.Sync(), syscall.EIO)
		require.Equal(t, "abcd", string(d.Data("d/f")))
		require.NoError(t, f.Sync())
		lost = lost || outcomes(d, "d/f", false)["...."]
		put(t, f, "a", 0)
		require.NoError(t, f.Sync())
		require.Equal(t, map[string]bool{"abcd": true}, outcomes(d, "d/f", false), "its page was written again")
	}
	require.True(t, lost)
}

// names returns which sets of names may remain after a loss of power.
func names(t *testing.T, d *Disk, anyChanges bool) map[string]bool {
	all := map[string]bool{}
	for seed := range uint64(seeds) {
		list, err := d.Crash(Crash{Seed: seed, AnyChanges: anyChanges}).List("d")
		require.NoError(t, err)
		text := ""
		for _, name := range list {
			text += name
		}
		all[text] = true
	}
	return all
}

func TestChangesOfADirectory(t *testing.T) {
	d, _ := made(t, "")
	_, err := d.Create("d/g")
	require.NoError(t, err)
	require.NoError(t, d.Remove("d/f"))
	require.Equal(t, map[string]bool{"f": true, "fg": true, "g": true}, names(t, d, false))
	require.Equal(t, map[string]bool{"f": true, "fg": true, "g": true, "": true}, names(t, d, true))
	require.NoError(t, d.SyncDir("d"))
	require.Equal(t, map[string]bool{"g": true}, names(t, d, true))
	require.NoError(t, d.Rename("d/g", "d/h"))
	require.Equal(t, map[string]bool{"g": true, "h": true}, names(t, d, true))
	_, err = d.Open("d/g")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestANewDirectoryIsLostWithoutASync(t *testing.T) {
	d := New(1)
	require.NoError(t, d.MkdirAll("a/b"))
	require.NoError(t, d.SyncDir("a"))
	there := map[bool]bool{}
	for seed := range uint64(seeds) {
		_, err := d.Crash(Crash{Seed: seed}).List("a/b")
		there[err == nil] = true
	}
	require.Len(t, there, 2)
}

func TestAFullDisk(t *testing.T) {
	d, f := made(t, "abc")
	d.SetRoom(5)
	n, err := f.WriteAt([]byte("defg"), 3)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 2, n)
	put(t, f, "xxxxx", 0)
	require.NoError(t, d.Remove("d/f"))
	f, err = d.Create("d/g")
	require.NoError(t, err)
	put(t, f, "fits.", 0)
}

func TestAProcessThatHasEnded(t *testing.T) {
	d, f := made(t, "a")
	put(t, f, "b", 0)
	next := d.Restart()
	_, err := f.WriteAt([]byte("c"), 0)
	require.ErrorIs(t, err, ErrOff)
	require.Equal(t, "b", string(next.Data("d/f")))
	next.StopAfter(1)
	require.NoError(t, next.Remove("d/f"))
	require.ErrorIs(t, next.SyncDir("d"), ErrOff)
}

func TestFaultsOfDisks(t *testing.T) {
	d, _ := made(t, "a")
	failed := errors.New("failed")
	d.FailNth(Open, 2, failed)
	for _, want := range []error{nil, failed, nil} {
		_, err := d.Open("d/f")
		require.ErrorIs(t, err, want)
	}
	d.Refuse(syscall.EROFS)
	_, err := d.Create("d/g")
	require.ErrorIs(t, err, syscall.EROFS)
	require.Equal(t, []string{"d/f"}, d.Files())
	d.Refuse(nil)
	d.LockOpenFiles()
	require.ErrorIs(t, d.Remove("d/f"), fs.ErrPermission)
	require.Equal(t, 3, d.OpenFiles())
}

func TestADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, f := made(t, "a")
		release := d.Hang()
		begun := time.Now()
		go func() {
			time.Sleep(time.Hour)
			release()
		}()
		require.NoError(t, f.Sync())
		require.Equal(t, time.Hour, time.Since(begun))
	})
}
