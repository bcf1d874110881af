package main

import (
	"fmt"
	"strings"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// equal is the ratio up to which two figures count as equal.
const equal = 1.05

// losses says where another way is better than ours. It has no words of its own about any program, so it holds for the
// figures of any run.
func (r report) losses() string {
	var b strings.Builder
	for _, m := range r.programs {
		for _, q := range quantities {
			if line := m.loss(q); line != "" {
				b.WriteString(line)
			}
		}
	}
	if b.Len() == 0 {
		return "No other way was better by more than a twentieth.\n\n"
	}
	return "Where another way was better by more than a twentieth than the one that Epicycle recommends:\n\n" + b.String() + "\n"
}

// loss is a line about a quantity that is best without our library, or nothing.
func (m measured) loss(q quantity) string {
	best, ours := -1, m.recommended()
	for i, w := range m.ways {
		if !w.ours && q.value(m.of[i]) > 0 && (best < 0 || q.better(m.of[i], m.of[best]) > 1) {
			best = i
		}
	}
	if best < 0 || ours < 0 || q.value(m.of[ours]) == 0 || q.better(m.of[best], m.of[ours]) <= equal {
		return ""
	}
	return fmt.Sprintf("- **%s**, %s: %s with %s, %s with %s\n", m.name, q.name,
		q.cell(m.of[best]), m.ways[best].name, q.cell(m.of[ours]), m.ways[ours].name)
}

// better returns by which factor a is better than b.
func (q quantity) better(a, b result) float64 {
	if q.more {
		return q.value(a) / q.value(b)
	}
	return q.value(b) / q.value(a)
}

// recommended is the way that the page recommends: the first of ours.
func (m measured) recommended() int {
	for i, w := range m.ways {
		if w.ours {
			return i
		}
	}
	return -1
}

// meanings is a table of what the columns of the first table count.
func (r report) meanings() string {
	rows := [][]string{{"program", "CPU and done: each", "bytes of each", "99 % of"}}
	for _, m := range r.programs {
		rows = append(rows, []string{m.name, m.unit, orNone(m.each), orNone(m.late)})
	}
	return figures.Table(rows)
}

func orNone(text string) string {
	if text == "" {
		return none
	}
	return text
}
