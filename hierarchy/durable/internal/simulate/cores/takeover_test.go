package cores

import (
	"bytes"
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// takeOver reads the log and takes it over. The owner before has no lease any more, whether it knows or not.
func (o *worker) takeOver(r *rand.Rand) {
	c := core.New(coreConfig)
	if !o.read(c) {
		return
	}
	c.State.Advance(c.Head.Time)
	c.State.Build()
	o.core, o.counts, o.most = c, core.Counts{}, o.off
	o.busy, o.started = make(map[frame.ID]bool), make(map[frame.ID]*core.Attempt)
	o.gone = make(map[*core.Attempt]bool)
	o.shift = o.wall() - o.elapsed()
	if ahead := c.Head.Time - o.time(); ahead > 0 {
		o.shift += min(ahead, int64(maxSkew))
	}
	clean := c.Head.Number == 0 || c.State.Clean()
	o.core.Owned = o.wall()
	if !o.appendTakeover(r) {
		o.core = nil
		return
	}
	for _, other := range o.workers {
		other.lapsed = other != o
	}
	o.failBegun()
	if !clean {
		c.Review(o.time(), o.wall())
		o.model.reviewed(o)
		o.model.elapsed(o)
	}
	o.compare()
}

// read reads the log.
func (o *worker) read(c *core.Owner) bool {
	if o.log.end() == 0 {
		return true
	}
	last, err := frame.Parse(o.log.get(o.log.end()))
	if err != nil || last.Begin <= o.log.first {
		o.fail("log: the last frame: %v, begins at %d", err, last.Begin)
		return false
	}
	for n := last.Begin; n <= o.log.end(); n++ {
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
		b := &batch{by: o, now: o.time(), wall: o.wall(), last: o.core.Head.End}
		for _, ref := range refs {
			b.begun = append(b.begun, o.core.State.Timer(ref).Key)
		}
		o.core.Start(b.now, b.wall, core.Limits{Message: 1 << 20})
		refs = o.core.FailBegun(refs)
		data, _ := o.core.Finish()
		b.data = bytes.Clone(data)
		o.log.batches[string(data)] = b
		o.append(b.last, b.data)
		o.flight = b
		o.settle()
	}
}
