package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// report has the figures of one run of this command.
type report struct {
	rounds   int
	others   string // what other programs took
	programs []measured
}

// The command replaces the lines between these two lines of the page.
const (
	begin = "<!-- programs: written by go run ./programs -->\n"
	end   = "<!-- end of programs -->\n"
)

func (r report) replaceIn(page string) error {
	return figures.ReplaceBetween(page, begin, end, r.markdown())
}

// none is the cell of what was not measured.
const none = "–"

func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured with %s on %s/%s, %d cores, number of rounds: %d.%s\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), r.rounds, r.others)
	b.WriteString(r.losses())
	rows := [][]string{{"program", "way", "done in a second", "CPU of each", "bytes", "99 %", "full GC"}}
	for _, m := range r.programs {
		for i, w := range m.ways {
			row := []string{m.title(), w.label()}
			for _, q := range quantities {
				row = append(row, q.cell(m.of[i]))
			}
			rows = append(rows, row)
		}
	}
	b.WriteString(figures.Table(rows) + "\n")
	b.WriteString(r.meanings())
	return b.String()
}

func (m measured) title() string {
	return fmt.Sprintf("**%s**: %s", m.name, fmt.Sprintf(m.what, figures.Count(m.of[0].N)))
}

// label is the name of a way, in code if it is ours.
func (w way) label() string {
	if w.ours {
		return "**" + w.name + "**"
	}
	return w.name
}

// quantity is a column of the table.
type quantity struct {
	name   string // in a sentence about who is better
	value  func(result) float64
	format func(float64) string
	more   bool // whether more is better
}

var quantities = []quantity{
	{"is done in a second", perSecond, count, true},
	{"of processor time for each", cpuOfEach, duration, false},
	{"bytes", func(f result) float64 { return f.Bytes }, count, false},
	{"for 99 %", func(f result) float64 { return float64(f.Late) }, duration, false},
	{"for a full collection", func(f result) float64 { return float64(f.GC) }, duration, false},
}

func perSecond(f result) float64 {
	if f.Took == 0 {
		return 0
	}
	return float64(f.Work) / f.Took.Seconds()
}

func cpuOfEach(f result) float64 {
	if f.Work == 0 {
		return 0
	}
	return float64(f.CPU) / float64(f.Work)
}

func count(v float64) string { return figures.Count(int(v + 0.5)) }

func duration(v float64) string { return figures.Duration(time.Duration(v)) }

func (q quantity) cell(f result) string {
	if v := q.value(f); v > 0 {
		return q.format(v)
	}
	return none
}
