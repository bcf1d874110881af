package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		n, most, width int
		want           string
	}{
		{0, 0, 4, ""},
		{0, 10, 4, ""},
		{5, 0, 4, ""},
		{1, 1_000_000, 4, "▏"},
		{1, 8, 1, "▏"},
		{4, 8, 1, "▌"},
		{7, 8, 1, "▉"},
		{8, 8, 1, "█"},
		{5, 10, 4, "██"},
		{10, 10, 4, "████"},
		{11, 10, 4, "████"},
	} {
		require.Equal(t, c.want, Bar(c.n, c.most, c.width), "%+v", c)
	}
	for n := range 1001 {
		require.LessOrEqual(t, Columns(Bar(n, 1000, 7)), 7)
	}
}

func TestStrip(t *testing.T) {
	for _, c := range []struct {
		numbers       []int
		columns, hand int
		want          string
	}{
		{[]int{0, 0, 0, 0}, 4, 2, "··│·"},
		{[]int{0, 0, 0, 0}, 2, 1, "│·"},
		{[]int{0, 0, 0, 0}, 2, 3, "·│"},
		{[]int{1, 8, 4, 0}, 4, 3, "▁█▄│"},
		{[]int{1, 8, 4, 0}, 4, 0, "▁█▄·"},
		{[]int{1, 1, 0, 1}, 2, 0, "█▄"},
		{[]int{1, 1 << 30, 0, 0}, 4, 0, "▁█··"},
	} {
		require.Equal(t, c.want, Strip(c.numbers, c.columns, c.hand), "%+v", c)
	}
}

func TestFill(t *testing.T) {
	require.Equal(t, "µs··  ", Left("µs··", 6))
	require.Equal(t, "  µs··", Right("µs··", 6))
	require.Equal(t, "longer", Left("longer", 3))
	require.Equal(t, "longer", Right("longer", 3))
}
