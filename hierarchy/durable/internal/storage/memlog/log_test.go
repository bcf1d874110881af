package memlog

import (
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/logtest"
)

func TestContract(t *testing.T) {
	logtest.Run(t, func(t *testing.T) func() storage.Log {
		disk := new(Disk)
		return func() storage.Log { return disk.Open() }
	})
}
