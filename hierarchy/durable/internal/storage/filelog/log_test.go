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
