package figures

import (
	"fmt"
	"slices"
	"strings"
)

// Table writes rows in Markdown, the first one as the head. What a row begins
// with like the one above it is written once.
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
