package steps

import (
	"fmt"
	"strings"
)

// Pairs are pairs of faults that have happened at the same time. Faults are numbers below Of.
type Pairs struct {
	Of  int
	all map[[2]int]bool
}

// Add adds a pair.
func (p *Pairs) Add(i, j int) {
	if p.all == nil {
		p.all = make(map[[2]int]bool)
	}
	p.all[[2]int{min(i, j), max(i, j)}] = true
}

// Join adds other pairs.
func (p *Pairs) Join(o Pairs) {
	p.Of = max(p.Of, o.Of)
	for pair := range o.all {
		p.Add(pair[0], pair[1])
	}
}

// Counts returns how many pairs there are, and how many there can be.
func (p *Pairs) Counts() (n, most int) { return len(p.all), p.Of * (p.Of + 1) / 2 }

const pairsFormat = "pairs of faults, of %d:"

// String returns a line, which ParsePairs reads.
func (p Pairs) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, pairsFormat, p.Of)
	for i := range p.Of {
		for j := i; j < p.Of; j++ {
			if p.all[[2]int{i, j}] {
				fmt.Fprintf(&b, " %d+%d", i, j)
			}
		}
	}
	return b.String()
}

// ParsePairs is the inverse of String. ok is false for other text.
func ParsePairs(line string) (p Pairs, ok bool) {
	head, rest, _ := strings.Cut(line, ":")
	if n, _ := fmt.Sscanf(head+":", pairsFormat, &p.Of); n != 1 {
		return p, false
	}
	for _, word := range strings.Fields(rest) {
		var i, j int
		if n, _ := fmt.Sscanf(word, "%d+%d", &i, &j); n != 2 {
			return p, false
		}
		p.Add(i, j)
	}
	return p, true
}
