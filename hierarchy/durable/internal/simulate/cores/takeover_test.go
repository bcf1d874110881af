package cores

import (
	"bytes"
	"math"
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// takeOver reads the log and takes it over. The owner before has no lease any more, whether it knows or not.
func (o *worker) takeOver(r *rand.Rand) {
	c, followed := o.follower, o.follower != nil
	if c == nil {
		c = core.New(o.config())
	}
	if o.follower = nil; !o.read(c) {
		return
	}
	o.core, o.counts, o.most, o.looked = c, core.Counts{}, o.off, math.MinInt64
	o.busy, o.started = make(map[frame.ID]bool), make(map[frame.ID]*core.Attempt)
	o.gone, o.settled = make(map[*core.Attempt]bool), make(map[*core.Attempt]bool)
	o.expiring, o.trimming = make(map[frame.ID]bool), trimming{foreign: followed}
	o.shift = o.wall() - o.elapsed()
	if ahead := c.Head.Time - o.time(); ahead > 0 {
		o.shift += min(ahead, int64(maxSkew))
	}
	clean := c.Head.Number == 0 || c.State.Clean()
	o.owned = o.wall()
	o.core.Owned = o.owned
	if !o.appendTakeover(r) {
		o.core = nil
		return
	}
	for _, other := range o.workers {
		other.lapsed = other != o
	}
	if o.failBegun(); o.core == nil {
		return
	}
	if !clean {
		c.Review(o.time(), o.wall())
		o.model.reviewed(o)
		o.model.elapsed(o)
	}
	o.compare()
	o.setMany(r)
}

// read reads what is in the log, from where it was read before.
func (o *worker) read(c *core.Owner) bool {
	o.begin = 0
	if built := c.State.Built(); !built {
		defer func() {
			c.State.Advance(c.Head.Time)
			c.State.Build()
		}()
	}
	if o.log.end() == 0 {
		return true
	}
	last, err := frame.Parse(o.log.get(o.log.end()))
	if err != nil || last.Begin <= o.log.first {
		o.fail("log: the last frame: %v, begins at %d", err, last.Begin)
		return false
	}
	o.begin = last.Begin
	n := last.Begin
	switch read := c.Head.Number; {
	case read >= o.log.first && read > 0:
		n = read + 1
	case read > 0: // what follows was deleted
		o.forget(c)
	}
	for ; n <= o.log.end(); n++ {
		f, err := frame.Parse(o.log.get(n))
		if err == nil && c.Head.Number > 0 && (f.Previous != c.Head.Checksum || f.Time < c.Head.Time || f.Begin < c.Head.Begin) {
			o.fail("log: frame %d does not follow the one before", n)
		}
		if err == nil {
			err = c.Replay(&f)
		}
		if err != nil {
			o.fail("log: frame %d: %v", n, err)
			return false
		}
	}
	return true
}

// appendTakeover appends a takeover. Some are given up, and may arrive later: they are nobody's.
func (o *worker) appendTakeover(r *rand.Rand) bool {
	h := o.core.Head.Next()
	h.Epoch, h.Owner, h.Time, h.Partitions = h.Number, h.Number|uint64(o.n)<<32, max(h.Time, o.time()), 1
	if o.core.Head.Number == 0 {
		h.Begin = h.Number
	}
	var b frame.Builder
	b.Start(h)
	b.Add(&frame.Op{Kind: frame.Takeover, Text: []byte(o.String())})
	data, _ := b.Finish()
	o.log.batches[string(data)] = &batch{by: o, takeover: true}
	f := fateOf(r)
	o.Add("%v takes over with frame %d: %v", o, h.Number, f)
	if !o.send(f, h.Number-1, bytes.Clone(data), r) && f != twice {
		o.takesFull(len(data))
		return false
	}
	if !bytes.Equal(o.log.get(h.Number), data) {
		return false
	}
	parsed, err := frame.Parse(data)
	before := o.core.Head.Time
	if err == nil {
		o.core.Epoch = parsed.Epoch
		err = o.core.Replay(&parsed)
	}
	if err != nil {
		o.fail("takeover: %v", err)
	}
	o.core.State.Own(before, o.core.Head.Time)
	return true
}

// failBegun writes that the attempts in progress at the end of the last owner have failed.
func (o *worker) failBegun() {
	for refs := o.core.State.Begun(); len(refs) > 0; {
		b := o.newBatch()
		o.core.Start(b.now, b.wall, core.Limits{Message: o.message, Log: o.log.most})
		rest := o.core.FailBegun(refs)
		for _, ref := range refs[:len(refs)-len(rest)] {
			b.begun = append(b.begun, o.core.State.Timer(ref).Key)
		}
		refs = rest
		data, _ := o.core.Finish()
		o.fits(b, data)
		b.data = bytes.Clone(data)
		o.log.batches[string(data)] = b
		if o.takesFull(len(data)); !o.append(b.last, b.data) {
			o.lose()
			return
		}
		o.flight = b
		o.settle()
	}
}
