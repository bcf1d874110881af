package main

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	stripWide = 32
	barWide   = 20
)

// circles draws where the timers of a wheel are.
func (t *tour) circles(circles []hierarchy.CircleStats) {
	totals := make([]int, len(circles))
	all, most := 0, 0
	for i, c := range circles {
		for _, n := range c.Slots {
			totals[i] += n
		}
		all += totals[i]
		most = max(most, totals[i])
	}
	t.line("")
	t.say(`Where the wheel's %s timers stood then: a line for each circle, the fastest
		first, with its 64 slots from left to right. A slot only gathers: each timer keeps
		its deadline to the nanosecond, and moves to faster circles as it comes near.`, count(all))
	t.line("")
	t.line(indent + t.paint(bold, right("a slot is", 10)+" "+left("its slots, and the hand │", stripWide)+right("timers", 10)))
	for i, c := range circles {
		t.line(fmt.Sprintf("%s%s%s%s  %s", indent, right(span(c.Width), 10)+" ",
			t.paint(ours, strip(c.Slots, stripWide, c.Hand)), right(count(totals[i]), 10),
			t.paint(ours, bar(totals[i], most, barWide))))
	}
}
