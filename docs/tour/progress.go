package main

import (
	"fmt"
	"strings"
	"time"
)

// progress is a line that is redrawn while something goes on. It is shown on terminals only.
type progress struct {
	s     *screen
	what  string
	total int
	drawn time.Time
	wide  int // columns that are drawn
}

// redraw is the least time between two drawings: drawing takes time away from what is being
// measured.
const redraw = 40 * time.Millisecond

func (s *screen) progress(what string, total int) *progress {
	return &progress{s: s, what: what, total: total}
}

// at shows how much is done.
func (p *progress) at(done int) {
	if !p.s.live || time.Since(p.drawn) < redraw && done < p.total {
		return
	}
	const long = 30
	b := bar(done, p.total, long)
	line := fmt.Sprintf("%s%s  %s%s %3d %%", indent, left(p.what, 34), b,
		strings.Repeat("·", long-columns(b)), 100*int64(done)/int64(max(p.total, 1)))
	p.s.write("\r" + left(line, p.wide))
	p.wide = columns(line)
	p.drawn = time.Now()
}

// end removes the line.
func (p *progress) end() {
	if p.wide > 0 {
		p.s.write("\r" + blank(p.wide) + "\r")
		p.wide = 0
	}
}
