package main

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	stripWide = 32
	barWide   = 20
)

// circles draws where the timers of a wheel stand.
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
	t.say(`This is where the wheel's %s timers stood at that moment. Each line is a circle,
		the finest first, with its 64 slots from left to right. A slot does not round: each
		timer keeps its deadline to the nanosecond, and moves to finer circles as the hand
		approaches.`, count(all))
	t.line("")
	t.line(indent + t.paint(bold, right("slot width", 10)+" "+left("slots, and the hand │", stripWide)+right("timers", 10)))
	for i, c := range circles {
		t.line(fmt.Sprintf("%s%s%s%s  %s", indent, right(span(c.Width), 10)+" ",
			t.paint(ours, strip(c.Slots, stripWide, c.Hand)), right(count(totals[i]), 10),
			t.paint(ours, bar(totals[i], most, barWide))))
	}
}
