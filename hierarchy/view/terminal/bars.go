package terminal

import (
	"strings"
	"unicode/utf8"
)

// eighths are the possible ends of a bar, thinnest first.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar draws n as a bar. A bar for most would be width columns long. A positive n is always visible.
func Bar(n, most, width int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	parts := max(1, int(float64(min(n, most))/float64(most)*float64(8*width)+0.5))
	return strings.Repeat("█", parts/8) + eighths[parts%8]
}

// heights are the characters of a strip, lowest first.
var heights = []rune("▁▂▃▄▅▆▇█")

// Strip draws numbers side by side in the given number of columns, the largest column at
// full height. Empty columns are dots. The hand is shown only in an empty column.
func Strip(numbers []int, columns, hand int) string {
	sums := make([]int, columns)
	most := 0
	for i, n := range numbers {
		c := i * columns / len(numbers)
		sums[c] += n
		most = max(most, sums[c])
	}
	marks := make([]rune, columns)
	for c, n := range sums {
		switch {
		case n > 0:
			marks[c] = heights[(int64(n)*int64(len(heights))-1)/int64(most)]
		case c == hand*columns/len(numbers):
			marks[c] = '│'
		default:
			marks[c] = '·'
		}
	}
	return string(marks)
}

// Left pads s to width columns, with s on the left.
func Left(s string, width int) string { return s + blank(width-Columns(s)) }

// Right pads s to width columns, with s on the right.
func Right(s string, width int) string { return blank(width-Columns(s)) + s }

func blank(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Columns returns the width of s on the screen. Every character that is printed is
// one column wide.
func Columns(s string) int { return utf8.RuneCountInString(s) }
