package cores

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// The log of some worlds has a limit, and takes no message beyond that. Then trimming begins as late as it may, and what is
// promised is that the log is not full as long as half of it is live.

// small is the size of a log with a limit. Messages are small beside it.
const small = 32 * (500 + overhead)

// trimming is what an owner is about to read, or to delete.
type trimming struct {
	portion  *core.Portion
	end      uint64 // of the frames that are read for it
	deleting bool
	begin    uint64 // where the log begins then
	loose    int64
	foreign  bool // another process may have deleted what this one has read
	tidy     bool // the log has been small enough, and nothing has kept the owner from trimming since
}

func (w *world) config() core.Config {
	c := coreConfig
	if w.log.most > 0 {
		c.MaxPending, c.TrimAbove = 36, 1<<30
	}
	return c
}

// isSteady reports whether an owner stays. One of a log with a limit stays for so long that it has to trim.
func (w *world) isSteady(r *rand.Rand) bool { return w.log.most > 0 && r.IntN(10) > 0 }

// setMany requests so many timers that almost half of the log is live.
func (o *worker) setMany(r *rand.Rand) {
	most := o.config().MaxPending
	if o.log.most == 0 || len(o.model.timers) > most/2 {
		return
	}
	for i := range most {
		in := time.Hour + time.Duration(r.Int64N(int64(time.Hour)))
		o.callers[0].send(o, nil, []core.Op{{Kind: frame.Set, Key: fmt.Append(nil, "k", i), Value: o.someValue(r), In: in}})
	}
}

// logChanges sets another limit.
func (w *world) logChanges(r *rand.Rand) {
	if r.IntN(4) > 0 {
		return
	}
	w.log.most = small + r.Int64N(small)
	for _, o := range w.workers {
		o.trimming.tidy = false
	}
	w.Add("the log has %d bytes at most", w.log.most)
}

// makeRoom raises the limit, so that a log goes on that may be full.
func (w *world) makeRoom() {
	if w.log.most > 0 {
		w.log.most *= 4
	}
}

// goOnTrimming is called when a frame was written.
func (o *worker) goOnTrimming() {
	if o.log.most == 0 || o.ending {
		return
	}
	if o.core.ShouldDelete() {
		o.deleteLoose()
	}
	o.startPortion()
	half := 2*o.core.State.Bytes() <= o.log.most
	o.trimming.tidy = half && (o.trimming.tidy || o.core.IsTrimmed())
}

func (o *worker) startPortion() {
	if p, end := o.core.StartTrimming(); p != nil {
		o.trimming.portion, o.trimming.end = p, end
	}
}

// trim reads what trimming writes again, or deletes what it has.
func (o *worker) trim(r *rand.Rand) {
	if r.IntN(2) == 0 {
		if o.log.most == 0 {
			o.deleteLoose()
		}
		o.delete(r)
		return
	}
	if o.log.most == 0 {
		o.startPortion()
	}
	o.readPortion(1 + r.IntN(40))
}

// awaitPortion reads, before a frame is made, some frames or, if that is late, all that are wanted.
func (o *worker) awaitPortion(r *rand.Rand) {
	switch late := o.core.TrimmingIsLate(); {
	case o.log.most == 0:
	case r.IntN(40) == 0:
		o.giveUp()
	case late:
		o.readPortion(len(o.log.all))
	case r.IntN(2) == 0:
		o.readPortion(1 + r.IntN(10))
	}
}

// giveUp is called when a frame could not be read.
func (o *worker) giveUp() {
	if o.trimming.portion != nil {
		o.core.GiveUp()
		o.trimming.portion, o.trimming.tidy = nil, false
	}
}

// readPortion reads some frames of a portion.
func (o *worker) readPortion(n int) {
	t := &o.trimming
	p := t.portion
	if p == nil {
		return
	}
	for ; n > 0 && p.Begin < t.end && !p.IsFull(); n-- {
		f, err := frame.Parse(o.log.get(p.Begin))
		if err != nil { // another owner has deleted it
			o.giveUp()
			return
		}
		if err := o.core.FindLive(&f, p); err != nil {
			o.fail("trimming: %v", err)
		}
		p.Begin++
	}
	if p.Begin < t.end && !p.IsFull() {
		return
	}
	o.core.Give(p)
	t.portion = nil
	o.Add("%v will write again what is live before frame %d", o, p.Begin)
}

// deleteLoose begins to delete what is before the beginning of the log.
func (o *worker) deleteLoose() {
	if t := &o.trimming; !t.deleting {
		t.deleting = true
		t.begin, t.loose = o.core.Begins()
	}
}

// delete deletes it, unless that fails.
func (o *worker) delete(r *rand.Rand) {
	t := &o.trimming
	if !t.deleting || o.core.Epoch != o.model.epoch || o.log.most > 0 && r.IntN(4) == 0 {
		return
	}
	o.Add("%v deletes the frames before %d", o, t.begin)
	o.log.deleteBefore(t.begin)
	o.core.Deleted(t.loose)
	if t.deleting = false; o.core.Full && o.core.Loose > 0 {
		o.deleteLoose()
	}
}

// hasRoom reports whether a frame may be appended, and judges that it waits only until what is left over is deleted.
func (o *worker) hasRoom(b *batch) bool {
	size, has := int64(len(b.data)+overhead), o.core.HasRoom(len(b.data))
	fits := b.log == 0 || o.log.since(o.begin)+size <= b.log
	if o.log.end() == b.last && o.core.Epoch == o.model.epoch && !o.trimming.foreign && has != (fits || o.core.Loose == 0) {
		o.fail("room: for frame %d: %v, which fits: %v", b.last+1, has, fits)
	}
	if !has {
		o.deleteLoose()
	}
	return has
}

// noAnswer is called when the outcome of an append is unknown, also as the log is full. It judges that the log is not full
// as long as it has been trimmed in time, and half of it is live.
func (o *worker) noAnswer(f fate) {
	o.core.Full = true
	o.deleteLoose()
	begin, _ := o.core.Begins()
	sent := f == done || f == forgotten || f == twice
	if sent && o.trimming.tidy && begin <= o.log.first+1 && len(o.flight.data)+overhead <= int(o.log.most/32) {
		o.fail("full: a log of %d bytes has no room for a frame of %d, with %d live", o.log.since(0), len(o.flight.data), o.core.State.Bytes())
	}
}

// trimAll trims a log with nothing live, and judges that nearly nothing is left.
func (o *worker) trimAll(calm *rand.Rand) {
	for n := 0; n < 200 && !(o.core.IsTrimmed() && o.log.since(0) <= o.core.Total); n++ {
		o.write(done, calm)
		o.trim(calm)
		o.deleteLoose()
	}
	if n := o.log.since(0); n > min(o.config().TrimAbove, small)+small/8 {
		o.fail("trimming: %d bytes are left of nothing", n)
	}
}

// takesFull is called when a takeover had no answer. If the log is full, what is before its beginning is deleted.
func (o *worker) takesFull(size int) {
	if o.log.isFull(size) {
		begin, _ := o.core.Begins()
		o.log.deleteBefore(begin)
		for _, other := range o.workers {
			other.trimming.foreign = true
		}
	}
}

// compareSize compares the numbers of bytes that the owner has counted with what the log has.
func (o *worker) compareSize() {
	begin, loose := o.core.Begins()
	if got, want := o.core.Total, o.log.since(begin); got != want {
		o.fail("size: %d bytes instead of %d", got, want)
	}
	if want := o.log.since(o.begin) - o.log.since(begin); loose != want && !o.trimming.foreign {
		o.fail("size: %d bytes are left over instead of %d", loose, want)
	}
}
