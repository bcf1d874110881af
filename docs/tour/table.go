package main

import (
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// row is a line of a table: what was measured, and the results of a wheel and of package
// time.
type row struct{ what, wheel, time string }

// The styles of a wheel, and of everything that is compared with it.
const (
	ours   = terminal.Green
	theirs = terminal.Yellow
)

const (
	whatWide  = 44
	valueWide = 16
)

// table writes rows below a head.
func (t *tour) table(head row, rows []row) {
	t.row(head, terminal.Bold, terminal.Bold)
	t.Line(terminal.Indent + t.Paint(terminal.Faint, strings.Repeat("─", whatWide+2*valueWide)))
	for _, r := range rows {
		t.row(r, ours, theirs)
	}
}

func (t *tour) row(r row, wheel, time terminal.Style) {
	t.Line(terminal.Indent + terminal.Left(r.what, whatWide) +
		t.Paint(wheel, terminal.Right(r.wheel, valueWide)) + t.Paint(time, terminal.Right(r.time, valueWide)))
}
