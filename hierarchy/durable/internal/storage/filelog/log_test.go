package filelog_test

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/logtest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
	"github.com/epicycle-go/epicycle/tests/long"
)

var seeds = flag.Int("seeds", 100, "how many random histories TestDurable goes through")

func TestContract(t *testing.T) {
	logtest.Run(t, func(t *testing.T) func() storage.Log {
		l, err := filelog.Open(filelog.OS{}, filepath.Join(t.TempDir(), "timers"))
		require.NoError(t, err)
		t.Cleanup(func() { <-l.Close() })
		return func() storage.Log { return l }
	})
}

func TestDurable(t *testing.T) {
	t.Parallel()
	logtest.RunDurable(t, logtest.Durable{Open: opener(filelog.OpenSmall), Seeds: *seeds, Size: 200, Whole: long.On()})
}

// What the real disk has is there when the log is opened again, and what is free is used again.
func TestReopenOnTheRealDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "timers")
	for last := uint64(0); last < 100; last += 20 {
		l, err := filelog.OpenSmall(filelog.OS{}, dir)
		require.NoError(t, err)
		b, err := l.Bounds(t.Context())
		require.NoError(t, err)
		require.Equal(t, last, b.Last)
		fill(t, l, last+1, last+20)
		requireLast(t, l, last+20)
		require.NoError(t, l.SetMark(t.Context(), storage.Mark{Number: last + 20}))
		require.NoError(t, l.Trim(t.Context(), last+15))
		<-l.Close()
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(segments), 2)
}

// The files have the sizes that they have in use, and messages have up to a megabyte.
func TestDurableLarge(t *testing.T) {
	t.Parallel()
	logtest.RunHistories(t, logtest.Durable{Open: opener(filelog.Open), Seeds: 1 + *seeds/100, Size: 64 << 10})
}

func opener(open func(filelog.FS, string) (*filelog.Log, error)) func(*memdisk.Disk) (logtest.OnDisk, error) {
	return func(d *memdisk.Disk) (logtest.OnDisk, error) {
		l, err := open(d, "data/timers")
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}
