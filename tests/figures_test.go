package tests

import (
	"strings"
	"testing"

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
