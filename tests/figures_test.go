package tests

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The figures of README.md are those of docs/performance.md, which a command writes.
func TestReadmeHasTheFiguresOfItsPage(t *testing.T) {
	readme, page := read(t, "../README.md"), read(t, "../docs/performance.md")
	for _, figure := range []struct {
		row    string // of README.md
		source string // what the row of the page begins with
		from   []int  // the cells there of README's Epicycle, time, go-zero and container/heap; 0 for an empty cell
	}{
		{"set and stop a timer", "| 1,000,000 | ", []int{4, 2, 3, 7}},
		{"reset a random timer, as a keep-alive does", "| keep-alive: reset to the same delay |", []int{3, 2, 0, 0}},
		{"full garbage collection", "| full garbage collection ", []int{3, 2, 0, 0}},
	} {
		got, want := cells(t, readme, "| "+figure.row+" |")[2:], cells(t, page, figure.source)
		for i, at := range figure.from {
			if at > 0 {
				require.Equal(t, want[at], got[i], "%s, cell %d", figure.row, i)
			}
		}
	}
	crowd, alone := "| a million due at once: time until all are done |", "| sets and stops completed meanwhile |"
	for i, source := range []string{"| Wheel, Go |", "| time.AfterFunc | 1"} {
		row := cells(t, page, source)
		require.Equal(t, row[2], cells(t, readme, crowd)[2+i])
		require.Equal(t, row[3], cells(t, readme, alone)[2+i])
	}
	for i, source := range []string{"| Wheel |", "| time.AfterFunc |", "| go-zero |", "| container/heap |"} {
		row := cells(t, page[strings.Index(page, "| implementation | bytes |"):], source)
		require.Equal(t, row[2], cells(t, readme, "| bytes per timer |")[2+i])
	}
}

// cells returns the cells of the first row of a page's tables that begins in a certain way. The first cell has index 1.
func cells(t *testing.T, page, begin string) []string {
	t.Helper()
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, begin) {
			all := strings.Split(line, "|")
			for i := range all {
				all[i] = strings.TrimSpace(all[i])
			}
			return all
		}
	}
	require.Failf(t, "no such row", "%q", begin)
	return nil
}

// What README.md says in words is what the figures of the page come to.
func TestReadmeSaysWhatItsPageMeasured(t *testing.T) {
	readme, page := read(t, "../README.md"), read(t, "../docs/performance.md")
	lead := strings.Join(strings.Fields(readme[:strings.Index(readme, "```go")]), " ")
	for _, claim := range []struct {
		words  string
		row    string
		a, b   int // the ratio is that of two cells; or, if b is 0, the cell a
		others string
		within [2]float64
	}{
		{"setting and stopping one takes 0.3 of package `time`'s time", "| 1,000,000 | ", 8, 0, "", [2]float64{0.25, 0.35}},
		{"a timer a third of the memory", "| Wheel | 41 |", 3, 0, "", [2]float64{0.28, 0.38}},
		{"a full garbage collection a fifth of the time", "| full garbage collection ", 4, 0, "", [2]float64{0.15, 0.25}},
		{"have run in a tenth of the time", "| Wheel, Go |", 2, 2, "| time.AfterFunc | 1", [2]float64{0.07, 0.13}},
	} {
		require.Contains(t, lead, claim.words)
		ratio := number(t, cells(t, page, claim.row)[claim.a])
		if claim.b > 0 {
			ratio /= number(t, cells(t, page, claim.others)[claim.b])
		}
		require.True(t, claim.within[0] <= ratio && ratio <= claim.within[1], "%s: it is %v", claim.words, ratio)
	}
}

// number returns a ratio, or a duration in seconds.
func number(t *testing.T, cell string) float64 {
	if d, err := time.ParseDuration(strings.ReplaceAll(cell, " ", "")); err == nil {
		return d.Seconds()
	}
	n, err := strconv.ParseFloat(cell, 64)
	require.NoError(t, err)
	return n
}
