package memlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Disk stores a log. It remains when processes have ended. Several Logs may share it, such as those of an owner and of
// the process that takes over. Make it with new.
type Disk struct {
	mu    sync.Mutex
	first uint64   // the number of the first message, less 1
	all   [][]byte // message n is all[n-first-1]
	mark  *storage.Mark
	late  []late
	full  bool
	most  int64 // bytes, or 0
	large int   // bytes of a message, or 0
	lag   int   // how many calls come before an append that is late, or 0 for 2
	gone  bool
	still bool

	appends int // how many messages were appended

	Trims int // how often messages were deleted
}

// late is an append that has not arrived yet.
type late struct {
	calls int // how many calls arrive before it
	last  uint64
	data  []byte
}

// Open returns a new connection.
func (d *Disk) Open() *Log { return &Log{disk: d, closed: make(chan struct{})} }

func (d *Disk) locked(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// Appends returns how many messages were appended.
func (d *Disk) Appends() (n int) {
	d.locked(func() { n = d.appends })
	return n
}

// Arrive makes all late appends arrive at the disk.
func (d *Disk) Arrive() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.late {
		d.append(a.last, a.data)
	}
	d.late = nil
}

// Cut removes the messages from number on, like a storage engine that considers the end of its file torn.
func (d *Disk) Cut(number uint64) { d.locked(func() { d.cut(number) }) }

func (d *Disk) cut(number uint64) {
	if number <= d.last() {
		d.all = d.all[:max(number, d.first+1)-d.first-1]
	}
}

// Change replaces message number. If data is nil, the message is missing.
func (d *Disk) Change(number uint64, data []byte) {
	d.locked(func() { d.all[number-d.first-1] = data })
}

// Remark replaces the mark, by a lower one, too.
func (d *Disk) Remark(m storage.Mark) { d.locked(func() { d.mark = &m }) }

// Copy returns another disk with the same contents, such as a backup.
func (d *Disk) Copy() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{first: d.first, all: slices.Clone(d.all), mark: d.mark}
}

// SetFull makes all appends fail, until it is called with false.
func (d *Disk) SetFull(full bool) { d.locked(func() { d.full = full }) }

// SetMost limits the sum of the sizes of all messages, if it is not 0. An append that does not fit fails.
func (d *Disk) SetMost(bytes int64) { d.locked(func() { d.most = bytes }) }

// SetLarge limits the size of each message from now on, if it is not 0. Log.Max limits it, too.
func (d *Disk) SetLarge(bytes int) { d.locked(func() { d.large = bytes }) }

// SetLag makes late appends arrive together with a later call than the next but one.
func (d *Disk) SetLag(calls int) { d.locked(func() { d.lag = calls }) }

// SetSilent makes all calls fail, until it is called with false.
func (d *Disk) SetSilent(silent bool) { d.locked(func() { d.still = silent }) }

// Restore replaces the messages by those of a backup. The mark stays.
func (d *Disk) Restore(backup *Disk) {
	c := backup.Copy()
	d.locked(func() { d.first, d.all, d.gone = c.first, c.all, false })
}

// SetGone deletes the log, or restores it.
func (d *Disk) SetGone(gone bool) { d.locked(func() { d.gone = gone }) }

// Size returns the sum of the sizes of all messages.
func (d *Disk) Size() (n int) {
	d.locked(func() { n = d.size() })
	return n
}

func (d *Disk) size() (n int) {
	for _, m := range d.all {
		n += len(m)
	}
	return n
}

func (d *Disk) last() uint64 { return d.first + uint64(len(d.all)) }

// append appends the message if the log ends at last. It reports whether it did. d must be locked.
func (d *Disk) append(last uint64, data []byte) bool {
	if last != d.last() {
		return false
	}
	d.all = append(d.all, data)
	d.appends++
	return true
}

// precede does what a fault does before the message arrives. d must be locked.
func (d *Disk) precede(fault Fault) {
	switch {
	case fault == Stranger:
		d.append(d.last(), []byte("somebody else's"))
	case fault == Copy && len(d.all) > 0:
		d.append(d.last(), d.all[0])
	}
}

func (l *Log) append(ctx context.Context, last uint64, data []byte) (err error, silent bool) {
	if err := l.call(ctx); err != nil {
		return err, false
	}
	d := l.disk
	defer d.mu.Unlock()
	fault := None
	if l.fault != nil {
		fault = l.fault(data)
	}
	switch {
	case d.gone:
		return errNoAnswer, false
	case d.full, d.most > 0 && int64(d.size()+len(data)) > d.most:
		return fmt.Errorf("memory: no space left"), false
	case fault == Drop:
		return errNoAnswer, false
	case fault == Refuse:
		return storage.ErrRefused, false
	case fault == Later:
		d.late = append(d.late, late{cmp.Or(d.lag, 2), last, data})
		return errNoAnswer, false
	}
	d.precede(fault)
	done := d.append(last, data)
	switch {
	case fault == Forget:
		return errNoAnswer, false
	case fault == Silence:
		return nil, true
	case fault == Twice:
		done = d.append(last, data)
	}
	if !done {
		return storage.ErrRefused, false
	}
	return nil, false
}
