package memdisk

import (
	"errors"
	"io/fs"
	"syscall"
)

// Kind is a kind of operation.
type Kind string

// The kinds of operations. Those from Mkdir on change something.
const (
	List    Kind = "list"
	Open    Kind = "open"
	Read    Kind = "read"
	Mkdir   Kind = "mkdir"
	Create  Kind = "create"
	Write   Kind = "write"
	Sync    Kind = "sync"
	Rename  Kind = "rename"
	Remove  Kind = "remove"
	SyncDir Kind = "syncdir"
)

// Changes reports whether operations of that kind change something.
func (k Kind) Changes() bool { return k != List && k != Open && k != Read }

// Op is an operation.
type Op struct {
	Kind Kind
	Name string
}

// ErrOff is the error of all operations of a process that has ended.
var ErrOff = errors.New("the process has ended")

type faults struct {
	off     bool
	open    int            // files
	changes int            // operations that change something
	stop    int            // the process ends after so many changes, if it is not 0
	fault   func(Op) error // or nil
	refusal error          // of every change, or nil
	failed  int            // how often fault has returned an error
	gate    chan struct{}  // nil, or closed when the disk answers again
}

// SetFault makes the operations fail for which fault returns an error. A write that fails so may have been done in part,
// and what a sync that fails so should have made durable counts as durable from then on without being it. Renaming or
// removing a file that fails with EIO may have been done. Anything else that fails so was not done.
func (d *Disk) SetFault(fault func(Op) error) { d.set(func() { d.fault = fault }) }

// FailNth makes the n-th operation, counted from 1, of a kind fail, or that of all operations that change something if
// the kind is "".
func (d *Disk) FailNth(kind Kind, n int, err error) {
	d.SetFault(func(op Op) error {
		if op.Kind == kind || kind == "" && op.Kind.Changes() {
			n--
		}
		if n != 0 {
			return nil
		}
		n--
		return err
	})
}

// StopAfter ends the process after n more changes, n > 0. What it does then fails with ErrOff.
func (d *Disk) StopAfter(n int) { d.set(func() { d.stop = d.changes + n }) }

// Ended reports whether the process has ended.
func (d *Disk) Ended() (ended bool) {
	d.set(func() { ended = d.ended() })
	return ended
}

func (d *Disk) ended() bool { return d.off || d.stop > 0 && d.changes >= d.stop }

// Refuse makes everything fail that needs permission to write, if err is not nil.
func (d *Disk) Refuse(err error) { d.set(func() { d.refusal = err }) }

// Hang makes all operations wait until release is called.
func (d *Disk) Hang() (release func()) {
	gate := make(chan struct{})
	d.set(func() { d.gate = gate })
	return func() {
		d.set(func() { d.gate = nil })
		close(gate)
	}
}

// SetRoom limits the sizes of all files, if most is not 0.
func (d *Disk) SetRoom(most int64) { d.set(func() { d.m.most = most }) }

// LockOpenFiles makes it impossible to rename or remove files that are open, as on Windows.
func (d *Disk) LockOpenFiles() { d.set(func() { d.m.locked = true }) }

// Changes returns how many operations have changed something, or were to.
func (d *Disk) Changes() (n int) {
	d.set(func() { n = d.changes })
	return n
}

// Faults returns how many operations have failed as SetFault wanted it.
func (d *Disk) Faults() (n int) {
	d.set(func() { n = d.failed })
	return n
}

// OpenFiles returns how many files are open.
func (d *Disk) OpenFiles() (n int) {
	d.set(func() { n = d.open })
	return n
}

func (d *Disk) set(f func()) {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	f()
}

// lock locks the machine when the disk answers.
func (d *Disk) lock() {
	d.m.mu.Lock()
	for d.gate != nil {
		gate := d.gate
		d.m.mu.Unlock()
		<-gate
		d.m.mu.Lock()
	}
}

func (d *Disk) do(kind Kind, name string, f func() error) error {
	return d.try(kind, name, f, func() {})
}

// try calls f, or failed if a fault was injected.
func (d *Disk) try(kind Kind, name string, f func() error, failed func()) error {
	d.lock()
	defer d.m.mu.Unlock()
	err := d.forbids(kind)
	if err == nil && d.fault != nil {
		if err = d.fault(Op{kind, name}); err != nil {
			d.failed++
			failed()
			if (kind == Rename || kind == Remove) && errors.Is(err, syscall.EIO) && d.m.coin() {
				_ = f()
			}
		}
	}
	if err == nil {
		err = f()
	}
	if err != nil {
		err = &fs.PathError{Op: string(kind), Path: name, Err: err}
	}
	return err
}

// forbids returns an error if the process has ended or may not do this.
func (d *Disk) forbids(kind Kind) error {
	if d.ended() {
		return ErrOff
	}
	if kind.Changes() {
		d.changes++
	}
	if kind.Changes() && kind != SyncDir && kind != Mkdir { // there may be nothing to make
		return d.refusal
	}
	return nil
}

func (m *machine) coin() bool { return m.rng.IntN(2) == 0 }

// room returns how large a file may become.
func (m *machine) room(n *file) int64 {
	if m.most == 0 {
		return 1 << 62
	}
	return max(int64(len(n.now)), int64(len(n.now))+m.most-m.root.size())
}

// size returns the size of all files.
func (d *dir) size() (sum int64) {
	for _, e := range d.now {
		if e.dir != nil {
			sum += e.dir.size()
		} else {
			sum += int64(len(e.file.now))
		}
	}
	return sum
}
