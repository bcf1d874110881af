package salvage

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// badDisk has sectors that can't be read, by their offsets.
type badDisk struct {
	*bytes.Reader
	bad []int64
}

func (d *badDisk) ReadAt(p []byte, at int64) (int, error) {
	for i := range p {
		if sector := (at + int64(i)) / 512 * 512; slices.Contains(d.bad, sector) {
			n, _ := d.Reader.ReadAt(p[:i], at)
			return n, syscall.EIO
		}
	}
	return d.Reader.ReadAt(p, at)
}

// Where a disk fails, the blocks before and after are read.
func TestContentsOfABadDisk(t *testing.T) {
	whole := make([]byte, 5*blockSize+100)
	for i := range whole {
		whole[i] = byte(i%251) + 1
	}
	for name, c := range map[string]struct {
		bad  []int64
		want []unread // without why
	}{
		"whole":                {nil, nil},
		"first":                {[]int64{0}, []unread{{offset: 0, size: blockSize}}},
		"in the middle":        {[]int64{2*blockSize + 1024}, []unread{{offset: 2*blockSize + 1024, size: blockSize - 1024}}},
		"two blocks":           {[]int64{blockSize, 2 * blockSize}, []unread{{offset: blockSize, size: blockSize}, {offset: 2 * blockSize, size: blockSize}}},
		"last, which is short": {[]int64{5 * blockSize}, []unread{{offset: 5 * blockSize, size: 100}}},
	} {
		t.Run(name, func(t *testing.T) {
			data := make([]byte, len(whole))
			lost := readInto(data, &badDisk{bytes.NewReader(whole), c.bad})
			want := slices.Clone(whole)
			for i, l := range lost {
				require.ErrorIs(t, l.why, syscall.EIO)
				lost[i].why = nil
				clear(want[l.offset : l.offset+l.size])
			}
			require.Equal(t, c.want, lost)
			require.Equal(t, want, data)
		})
	}
}

// A file that has become shorter meanwhile is read up to its end.
func TestContentsOfAShortFile(t *testing.T) {
	data := make([]byte, 100)
	require.Empty(t, readInto(data, io.NewSectionReader(bytes.NewReader([]byte("short")), 0, 5)))
	require.Equal(t, "short", string(bytes.TrimRight(data, "\x00")))
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("whole"), 0o600))
	data, lost, err := contents(file)
	require.NoError(t, err)
	require.Empty(t, lost)
	require.Equal(t, "whole", string(data))
}

// What can't be read is named where something is missing.
func TestUnreadablePlacesAreNamed(t *testing.T) {
	s := &scanned{broken: []broken{{"/logs/a/1.seg", 4096, 0, syscall.EIO}}}
	require.Contains(t, s.where(7, 8), "1.seg, byte 4096: "+syscall.EIO.Error())
}
