package logtest

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// histories checks the log after losses of power, and after the ends of processes.
func histories(t *testing.T, d Durable) {
	for seed := range uint64(d.Seeds) {
		h := newHistory(t, seed, d)
		h.recover(h.disk)
		for range 40 {
			h.NoError(h.step(), "seed %d", seed)
		}
		h.reopen()
		h.close()
	}
}

// step does one thing of many.
func (h *history) step() error {
	switch n := h.rng.IntN(100); {
	case n < 65:
		return h.append()
	case n < 75:
		return h.setMark()
	case n < 85:
		return h.trim()
	case n < 89:
		h.reopen()
	case n < 94:
		h.recover(h.disk.Restart())
	default:
		h.losePower(h.someCrash())
	}
	return nil
}

func (h *history) someCrash() memdisk.Crash {
	return memdisk.Crash{Seed: h.rng.Uint64(), Torn: h.rng.IntN(2) == 0, AnyChanges: h.rng.IntN(2) == 0}
}

// faultyHistories does the same with disks on which now and then something fails.
func faultyHistories(t *testing.T, d Durable) {
	for seed := range uint64(d.Seeds) {
		h := newHistory(t, seed, d)
		h.recover(h.disk)
		for range 20 {
			h.disk.SetFault(seldom(h.rng.Uint64()))
			for range 3 {
				if h.deed() != nil && h.rng.IntN(2) == 0 {
					break
				}
			}
			h.disk.SetFault(nil)
			h.comeBack()
		}
		h.close()
	}
}

// deed does something that may fail.
func (h *history) deed() error {
	switch n := h.rng.IntN(100); {
	case n < 70:
		return h.append()
	case n < 85:
		return h.setMark()
	}
	return h.trim()
}

// comeBack opens the log again in some way, or not if it can be written to.
func (h *history) comeBack() {
	switch n := h.rng.IntN(10); {
	case n < 3:
		h.losePower(h.someCrash())
	case n < 6:
		h.recover(h.disk.Restart())
	case n < 8 || h.append() != nil:
		h.reopen()
	}
}

// seldom returns a fault of one change in ten.
func seldom(seed uint64) func(memdisk.Op) error {
	rng := rand.New(rand.NewPCG(seed, 3)) // the disk calls this function by itself only
	return func(op memdisk.Op) error {
		if rng.IntN(10) > 0 {
			return nil
		}
		return failure(op, rng.IntN(3))
	}
}

// failure returns one of the errors that an operation can have. Reading does not fail.
func failure(op memdisk.Op, which int) error {
	switch {
	case op.Kind == memdisk.Open || op.Kind == memdisk.Create && which == 0:
		return syscall.EMFILE
	case !op.Kind.Changes():
		return nil
	case which == 1 && op.Kind != memdisk.Remove:
		return syscall.ENOSPC
	}
	return syscall.EIO
}
