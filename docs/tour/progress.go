package main

import (
	"fmt"
	"strings"
	"time"
)

// progress is a line that is drawn over while something goes on. It is there on a
// terminal only.
type progress struct {
	s     *screen
	what  string
	total int
	drawn time.Time
	wide  int // columns of what is drawn
}

// redraw is how often a progress is drawn at most: drawing takes time from what is
// being measured.
const redraw = 40 * time.Millisecond

func (s *screen) progress(what string, total int) *progress {
	return &progress{s: s, what: what, total: total}
}

// at says how much is done.
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

// end takes the line away again.
func (p *progress) end() {
	if p.wide > 0 {
		p.s.write("\r" + blank(p.wide) + "\r")
		p.wide = 0
	}
}
