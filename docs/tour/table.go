package main

import "strings"

// row is a line of a table: what was measured, and the results of a wheel and of package
// time.
type row struct{ what, wheel, time string }

const (
	whatWide  = 44
	valueWide = 16
)

// table writes rows below a head.
func (s *screen) table(head row, rows []row) {
	s.row(head, bold, bold)
	s.line(indent + s.paint(faint, strings.Repeat("─", whatWide+2*valueWide)))
	for _, r := range rows {
		s.row(r, ours, theirs)
	}
}

func (s *screen) row(r row, wheel, time style) {
	s.line(indent + left(r.what, whatWide) +
		s.paint(wheel, right(r.wheel, valueWide)) + s.paint(time, right(r.time, valueWide)))
}
