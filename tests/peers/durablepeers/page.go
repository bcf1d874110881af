package main

import (
	"errors"
	"os"
	"strings"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// The command replaces the lines between these two lines of the page.
const (
	begin = "<!-- durablepeers: written by go run . -out ../../../docs/durable-peers.md -->\n"
	end   = "<!-- end of durablepeers -->\n"
)

// wholeFile has all tables. The page has only some columns of them.
const wholeFile = "measured.txt"

// column is a column of the page's table.
type column struct {
	scenario string // its title
	cell     int    // in the scenario's rows; 0 is the system
	head     string
}

func columns() []column {
	kills := killing("worker").Title
	return []column{
		{scheduling.Title, 5, "set a second"}, {scheduling.Title, 6, "p50"},
		{lateness.Title, 2, "late p50"}, {lateness.Title, 3, "p99"}, {lateness.Title, 6, "early by"},
		{burst(20_000).Title, 3, "20,000 at once"},
		{sustained.Title, 3, "5,000/s: late p99"},
		{kills, 3, "lost"}, {kills, 4, "twice"},
		{resting.Title, 3, "memory"},
		{resting.Title, 7, "back after a kill"},
	}
}

var errNoSystems = errors.New("the report has no table")

// write writes the whole report into a file, and what the page has of it into the page.
func (r *report) write(file, page string) error {
	whole := r.markdown()
	text, err := summary(whole)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(whole), 0o644); err != nil {
		return err
	}
	return figures.ReplaceBetween(page, begin, end, text)
}

// summary returns what the page has of a whole report. Columns of scenarios that did not run are left out.
func summary(whole string) (string, error) {
	measured, rest, found := strings.Cut(whole, "\n\n")
	all, first := tables(rest)
	if !found || first == nil {
		return "", errNoSystems
	}
	rows := make([][]string, len(first))
	for i, row := range first {
		rows[i] = row[:1:1]
	}
	for _, c := range columns() {
		for i, row := range all[c.scenario] {
			cell := c.head
			if i > 0 {
				cell = row[c.cell]
			}
			rows[i] = append(rows[i], cell)
		}
	}
	return measured + "\n\n" + figures.Table(rows), nil
}

// tables returns the tables of a whole report by their titles, and the first one.
func tables(whole string) (all map[string][][]string, first [][]string) {
	all = make(map[string][][]string)
	for _, section := range strings.Split(whole, "\n### ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| ---") {
				continue
			}
			cells := strings.Split(strings.Trim(line, "|\n"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			all[title] = append(all[title], cells)
		}
		if first == nil {
			first = all[title]
		}
	}
	return all, first
}
