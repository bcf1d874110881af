package logtest

import (
	"syscall"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// ways is how many kinds of losses of power are tried at each place.
const ways = 4

// short is a history that has everything: several files, some of them deleted and used again, and marks. It ends with the
// first error.
func (h *history) short() error {
	deeds := []func() error{h.append, h.setMark, h.append, h.append, h.setMark, h.append, h.append, h.append, h.trim}
	for range 3 {
		for _, do := range deeds {
			if err := do(); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachCrash ends the process after each change of the disk.
func eachCrash(t *testing.T, d Durable) {
	for n := 1; ; n++ {
		h := newHistory(t, uint64(n), d)
		h.disk.StopAfter(n)
		log, err := d.Open(h.disk)
		if err == nil {
			h.log = log
			err = h.short()
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
			for n := 1; oneFault(t, d, kind, n, err); n++ {
			}
		}
	}
}

// oneFault makes the n-th operation of a kind fail. It reports whether there are as many.
func oneFault(t *testing.T, d Durable, kind memdisk.Kind, n int, fault error) bool {
	h := newHistory(t, uint64(n), d)
	h.disk.FailNth(kind, n, fault)
	log, err := d.Open(h.disk)
	if err != nil {
		h.ErrorIs(err, fault)
		log, err = d.Open(h.disk)
		h.NoError(err, "it has failed once")
	}
	h.log = log
	failed := h.short()
	if failed != nil {
		h.ErrorIs(failed, fault)
		h.fork(h.disk.Crash(memdisk.Crash{Seed: uint64(n)})).goOn(memdisk.Crash{Seed: uint64(n)})
		if h.append() != nil {
			_, problem := h.log.Problem()
			h.Error(problem)
			h.reopen()
		}
	}
	for range 5 {
		h.NoError(h.append())
	}
	for _, how := range memdisk.Crashes(uint64(n), ways) {
		h.fork(h.disk.Crash(how)).goOn(how)
	}
	more := h.disk.Faults() > 0
	h.reopen()
	h.close()
	return more
}

// tornAtEachByte tears the last write at each byte.
func tornAtEachByte(t *testing.T, d Durable) {
	for _, do := range []func(*history) error{(*history).append, (*history).setMark} {
		h := newHistory(t, 5, d)
		h.recover(h.disk)
		h.NoError(h.append())
		h.NoError(h.setMark())
		h.NoError(h.setMark())
		before := h.disk.Clone()
		f := h.fork(h.disk)
		h.Size = min(h.Size, 100)
		f.NoError(do(f))
		if len(f.all) > len(h.all) {
			h.maybe = f.all[len(h.all):]
		}
		h.higher = append(h.higher, f.mark)
		for _, name := range h.disk.Files() {
			h.tearEachByte(name, before, h.disk.Data(name))
		}
	}
}

// tearEachByte checks the log with a file that has changed up to each byte.
func (h *history) tearEachByte(name string, before *memdisk.Disk, after []byte) {
	old := before.Data(name)
	for at := range after {
		if old[at] == after[at] {
			continue
		}
		torn := before.Clone()
		torn.Put(name, append(after[:at:at], old[at:]...))
		f := h.fork(torn)
		f.recover(torn)
		f.close()
	}
}
