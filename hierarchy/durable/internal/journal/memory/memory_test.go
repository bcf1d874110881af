package memory

import (
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/journaltest"
)

func TestContract(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) func() journal.Log {
		disk := new(Disk)
		return func() journal.Log { return disk.Open() }
	})
}
