package logtest

import (
	"syscall"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// ways is how many kinds of losses of power are tried at each place.
const ways = 4

// short is a history that has everything: several files, some of them deleted and used again, and marks. It ends with the
// first error of try, which gets what is to be done.
func (h *history) short(try func(func() error) error) error {
	deeds := []func() error{h.append, h.setMark, h.append, h.append, h.setMark, h.append, h.append, h.append, h.trim}
	for range 3 * len(deeds) {
		if err := try(deeds[0]); err != nil {
			return err
		}
		deeds = append(deeds[1:], deeds[0])
	}
	return nil
}

// once does something once.
func once(do func() error) error { return do() }

// eachCrash ends the process after each change of the disk.
func eachCrash(t *testing.T, d Durable) {
	for n := 1; ; n++ {
		h := newHistory(t, uint64(n), d)
		h.disk.StopAfter(n)
		log, err := d.Open(h.disk)
		if err == nil {
			h.log = log
			err = h.short(once)
		}
		if err == nil {
			h.Greater(n, 50)
			return
		}
		h.ErrorIs(err, memdisk.ErrOff)
		for _, how := range memdisk.Crashes(uint64(n), ways) {
			h.fork(h.disk.Crash(how)).goOn(how)
			h.crashAgain(how)
		}
		h.fork(h.disk.Restart()).goOn(memdisk.Crash{Seed: uint64(n)})
	}
}

// goOn opens the log, and checks that it stays as it appeared, and works.
func (h *history) goOn(how memdisk.Crash) {
	h.recover(h.disk)
	h.losePower(how)
	h.NoError(h.append())
	h.NoError(h.setMark())
	h.losePower(how)
	h.close()
}

// crashAgain ends the process also after each change that opening the log makes.
func (h *history) crashAgain(how memdisk.Crash) {
	for n := 1; ; n++ {
		f := h.fork(h.disk.Crash(how))
		f.disk.StopAfter(n)
		if log, err := h.Open(f.disk); err == nil {
			<-log.Close()
			return
		}
		f.losePower(how)
		f.close()
	}
}

// eachFault makes each change of the disk fail once, and each opening of a file. What fails is tried again, and if need
// be, the log is opened again.
func eachFault(t *testing.T, d Durable) {
	for _, kind := range []memdisk.Kind{"", memdisk.Open} {
		for _, err := range []error{syscall.EIO, syscall.ENOSPC, syscall.EMFILE} {
			for n := 1; oneFault(t, d, kind, n, err); n += 1 + n%d.some(2) {
			}
		}
	}
}

// oneFault makes the n-th operation of a kind fail. It reports whether there are as many.
func oneFault(t *testing.T, d Durable, kind memdisk.Kind, n int, fault error) bool {
	h := newHistory(t, uint64(n), d)
	h.disk.FailNth(kind, n, fault)
	h.NoError(h.insist())
	failed := h.disk.Faults() > 0
	h.disk.SetFault(nil)
	for _, how := range memdisk.Crashes(uint64(n), ways) {
		h.fork(h.disk.Crash(how)).goOn(how)
	}
	h.reopen()
	h.close()
	if failed && kind == "" {
		thenCrash(t, d, n, fault)
	}
	return failed
}

// faultsAtOpen makes each operation fail once while a log is opened after a loss of power.
func faultsAtOpen(t *testing.T, d Durable) {
	for seed := range uint64(ways) {
		h := newHistory(t, seed, d)
		h.recover(h.disk)
		h.NoError(h.short(once))
		for failed := false; !failed; { // so that there is something to recover
			h.disk.FailNth(memdisk.Sync, 1, syscall.EIO) // which may be a sync of the log's own, beside the append
			failed = h.append() != nil
		}
		crashed := h.disk.Crash(memdisk.Crash{Seed: seed})
		for _, kind := range []memdisk.Kind{"", memdisk.Open, memdisk.Read, memdisk.List} {
			for n := 1; h.fork(crashed.Clone()).faultAtOpen(kind, n); n++ {
			}
		}
	}
}

// faultAtOpen makes the n-th operation of a kind fail. It reports whether there are as many.
func (h *history) faultAtOpen(kind memdisk.Kind, n int) bool {
	h.disk.FailNth(kind, n, syscall.EIO)
	log, err := h.Open(h.disk)
	failed := h.disk.Faults() > 0
	if err != nil {
		h.ErrorIs(err, syscall.EIO)
		h.NotErrorIs(err, storage.ErrDamaged)
		h.Zero(h.disk.OpenFiles())
	} else {
		<-log.Close()
	}
	h.disk.SetFault(nil)
	h.goOn(memdisk.Crash{Seed: uint64(n)})
	return failed
}

// thenCrash ends the process soon after the n-th change of the disk has failed.
func thenCrash(t *testing.T, d Durable, n int, fault error) {
	h := newHistory(t, uint64(n), d)
	h.disk.FailNth("", n, fault)
	h.disk.StopAfter(n + 1 + h.rng.IntN(12))
	if h.insist() != nil {
		for _, how := range memdisk.Crashes(uint64(n), ways) {
			h.fork(h.disk.Crash(how)).goOn(how)
		}
	}
}

// insist opens the log, and goes through the short history. What fails is tried again, and if it fails again, the log is
// opened again. The error is memdisk.ErrOff if the process has ended.
func (h *history) insist() error {
	if err := twice(h.openAgain); err != nil {
		return err
	}
	return h.short(func(do func() error) error {
		if err := twice(do); err == nil || h.disk.Ended() {
			return err
		}
		_, problem := h.log.Problem()
		h.Error(problem)
		<-h.log.Close()
		if err := twice(h.openAgain); err != nil {
			return err
		}
		return do()
	})
}

// twice does something again if it fails.
func twice(do func() error) error {
	err := do()
	if err != nil {
		err = do()
	}
	return err
}

// openAgain opens the log after it was closed, in the same process.
func (h *history) openAgain() error {
	log, err := h.Open(h.disk)
	if err != nil {
		return err
	}
	if h.disk.Ended() {
		return memdisk.ErrOff
	}
	h.log = log
	h.check()
	return nil
}

// tornAtEachByte tears the last write at each byte.
func tornAtEachByte(t *testing.T, d Durable) {
	d.Size = min(d.Size, 100)
	for _, do := range []func(*history) error{(*history).append, (*history).setMark} {
		h := newHistory(t, 5, d)
		h.recover(h.disk)
		h.NoError(h.append())
		h.NoError(h.setMark())
		h.NoError(h.setMark())
		before := h.disk.Clone()
		f := h.fork(h.disk)
		h.NoError(do(f))
		h.maybe, h.higher = f.all[len(h.all):], []storage.Mark{f.mark}
		torn := 0
		for _, name := range before.Files() {
			torn += h.tearEachByte(name, before, h.disk.Data(name))
		}
		h.Greater(torn, 4)
	}
}

// tearEachByte checks the log with a file that has changed up to each byte. It returns how many have changed.
func (h *history) tearEachByte(name string, before *memdisk.Disk, after []byte) (changed int) {
	old := before.Data(name)
	for at := range min(len(old), len(after)) {
		if old[at] == after[at] {
			continue
		}
		torn := before.Clone()
		torn.Put(name, append(after[:at:at], old[at:]...))
		f := h.fork(torn)
		f.recover(torn)
		f.close()
		changed++
	}
	return changed
}
