package main

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const (
	stripWide = 32
	barWide   = 20
)

// circles draws which slots the timers of a wheel are in.
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
	t.Line("")
	t.Say(`This is where the wheel's %s timers stood at that moment. Each line is a circle,
		the finest first, with its 64 slots from left to right. A slot does not round: each
		timer keeps its deadline to the nanosecond, and moves to finer circles as the hand
		approaches.`, terminal.Count(all))
	t.Line("")
	t.Line(terminal.Indent + t.Paint(terminal.Bold, terminal.Right("slot width", 10)+" "+terminal.Left("slots, and the hand │", stripWide)+terminal.Right("timers", 10)))
	for i, c := range circles {
		t.Line(fmt.Sprintf("%s%s%s%s  %s", terminal.Indent, terminal.Right(terminal.Span(c.Width), 10)+" ",
			t.Paint(ours, terminal.Strip(c.Slots, stripWide, c.Hand)), terminal.Right(terminal.Count(totals[i]), 10),
			t.Paint(ours, terminal.Bar(totals[i], most, barWide))))
	}
}
