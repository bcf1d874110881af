package logtest

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// OnDisk is a log that a process keeps on a disk.
type OnDisk interface {
	storage.Log
	// Problem returns why the log can't be written to at the moment, and since when, or nil.
	Problem() (since time.Time, err error)
	// Close closes the log, but does not wait long for a disk that hangs. closed is closed when the last file is.
	Close() (closed <-chan struct{})
}

// Durable is what RunDurable needs.
type Durable struct {
	Open  func(*memdisk.Disk) (OnDisk, error) // opens the log of a disk, and makes it if there is none
	Seeds int                                 // random histories of each kind
	Size  int                                 // of most messages, so that a few dozen fill several files
	Whole bool                                // tries everything that takes long, too, and not only some of it
}

type durableTests map[string]func(*testing.T, Durable)

func (d Durable) run(t *testing.T, tests durableTests) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, d) })
	}
}

// RunDurable tests that a log keeps what it has acknowledged, whatever happens to the disk. Its files should be small.
func RunDurable(t *testing.T, d Durable) {
	RunHistories(t, d)
	d.run(t, durableTests{"EachCrash": eachCrash, "EachFault": eachFault, "FaultsAtOpen": faultsAtOpen,
		"TornAtEachByte": tornAtEachByte, "Refused": refused, "Hung": hung, "Flipped": flipped, "Altered": altered})
}

// RunHistories runs the random ones of the tests of RunDurable.
func RunHistories(t *testing.T, d Durable) {
	d.run(t, durableTests{"Histories": histories, "FaultyHistories": faultyHistories, "Full": full,
		"Concurrent": concurrent})
}

// some returns n, or 1 if everything is to be tried.
func (d Durable) some(n int) int {
	if d.Whole {
		return 1
	}
	return n
}
