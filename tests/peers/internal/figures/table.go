package figures

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Table formats rows in Markdown, the first one as the head. It leaves the first cell of a row empty if it equals the
// first cell of the row above.
func Table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		cells := slices.Clone(row)
		if i > 1 && row[0] == rows[i-1][0] {
			cells[0] = ""
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	return b.String()
}

var errNoTable = errors.New("the page has no table with this head, or several")

// ReplaceTable replaces the table of a page that has the same head as rows.
func ReplaceTable(page string, rows [][]string) (string, error) {
	head, _, _ := strings.Cut(Table(rows), "\n")
	head += "\n"
	before, after, found := strings.Cut("\n"+page, "\n"+head)
	if !found || strings.Contains(after, "\n"+head) {
		return page, fmt.Errorf("%w: %s", errNoTable, head)
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	return strings.TrimPrefix(before+"\n", "\n") + Table(rows) + after, nil
}
