package calls

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// fails reports whether something goes wrong.
func (w *world) fails() bool { return !w.healed.Load() && w.intN(w.rate) == 0 }

// fate is what becomes of a message.
func (w *world) fate(_, _ *membus.Bus) (f membus.Fate) {
	f.After = w.upTo(5 * time.Millisecond)
	if !w.fails() {
		return f
	}
	switch w.intN(5) {
	case 0:
		f.After = w.someTime()
	case 1, 2:
		f.Lost = true
	case 3:
		if !w.small { // else what was divided may be committed beside its parts
			f.Again = 1 + w.someTime()
		}
	case 4:
		f.After = w.upTo(2 * time.Second)
	}
	return f
}

// someTime returns how late a message is that the network holds, or a copy of one.
func (w *world) someTime() time.Duration {
	return w.upTo([]time.Duration{time.Second, 20 * time.Second, 4 * time.Minute}[w.intN(3)])
}

// shrink changes how large a message of the log may be.
func (w *world) shrink() {
	if !w.healed.Load() && w.small && w.intN(4) == 0 {
		w.disk.SetLarge(w.intN(2) * (350 + w.intN(1000)))
	}
}

// silence has the log not answer now and then, until the end.
func (w *world) silence(end time.Time) {
	for time.Sleep(w.upTo(span / 2)); time.Now().Before(end); time.Sleep(w.upTo(span / 2)) {
		long := w.upTo([]time.Duration{10 * time.Second, 2 * giveUp}[w.intN(2)])
		w.note("the log is silent for %v", long)
		w.disk.SetSilent(true)
		time.Sleep(long)
		w.disk.SetSilent(false)
	}
}

// logFault is what goes wrong with an append.
func (w *world) logFault() memlog.Fault {
	if !w.fails() {
		return memlog.None
	}
	return 1 + memlog.Fault(w.intN(int(memlog.Copy)))
}
