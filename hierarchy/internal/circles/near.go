package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// nearSample is how many nodes of a slot or a queue Near looks at.
const nearSample = 32

// Near is about how many timers are due by that time. It stops counting above most. Of a long list
// it looks at the first few only, and takes the others to be like them.
func (c *Circles) Near(until int64, most int) (n int) {
	if start, ok := c.aheadStart(); ok && start <= until || c.next != nil && c.next.start <= until {
		return most + 1 // a crowd is near
	}
	for k := range c.queues {
		n += c.nearInQueue(&c.queues[k], until)
	}
	for occupied := c.occupied; occupied != 0 && n <= most; occupied &= occupied - 1 {
		k := bits.TrailingZeros32(occupied)
		l := &c.circle[k]
		for s := l.First(); s < level.Slots && n <= most && c.layout.SlotStart(k, s, c.hand) <= until; s = l.FirstFrom(s + 1) {
			n += c.nearInSlot(l, s, until, most)
		}
	}
	return n
}

// nearInQueue is Near for a queue.
func (c *Circles) nearInQueue(p *queue, until int64) (n int) {
	for _, e := range p.entries[p.next:min(p.next+nearSample, len(p.entries))] {
		if e.key > until {
			break
		}
		if c.stillGathered(e) {
			n++
		}
	}
	return n
}

// nearInSlot is Near for slot s of l.
func (c *Circles) nearInSlot(l *level.Level, s int, until int64, most int) (n int) {
	if l.Loose(s) {
		return most + 1
	}
	i, sorted := l.Head(s), l.Sorted(s)
	for range nearSample {
		switch {
		case i == 0 || n > most:
			return n
		case c.arena.At(i).Key <= until:
			n++
		case sorted:
			return n
		}
		i = c.arena.At(i).Next()
	}
	return n * l.Len(s) / nearSample
}
