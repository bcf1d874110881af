package terminal

import (
	"fmt"
	"strings"
	"time"
)

// Progress is a line that is redrawn while something is in progress. It is shown on terminals only.
type Progress struct {
	s     *Screen
	what  string
	total int
	drawn time.Time
	wide  int // number of columns that are drawn
}

// redraw is the least time between two drawings: drawing takes time away from what is being
// measured.
const redraw = 40 * time.Millisecond

// Progress returns a progress line for a task of total steps. If total is negative, the number of steps is unknown, and
// the line shows the number of steps done instead of a bar.
func (s *Screen) Progress(what string, total int) *Progress {
	return &Progress{s: s, what: what, total: total}
}

// At shows that done steps of the task are done.
func (p *Progress) At(done int) {
	if p.total >= 0 {
		done = min(done, p.total)
	}
	if !p.s.live || time.Since(p.drawn) < redraw && done != p.total {
		return
	}
	line := Indent + p.line(done)
	p.s.Write("\r" + Left(line, p.wide))
	p.wide = Columns(line)
	p.drawn = time.Now()
}

func (p *Progress) line(done int) string {
	if p.total < 0 {
		return Count(done) + " " + p.what
	}
	const long = 30
	b := Bar(done, p.total, long)
	return fmt.Sprintf("%s  %s%s %3d %%", Left(p.what, 34), b, strings.Repeat("·", long-Columns(b)), 100*int64(done)/int64(max(p.total, 1)))
}

// End removes the line.
func (p *Progress) End() {
	if p.wide > 0 {
		p.s.Write("\r" + blank(p.wide) + "\r")
		p.wide = 0
	}
}
