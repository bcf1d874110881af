package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
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
		require.Equal(t, c.want, bar(c.n, c.most, c.width), "%+v", c)
	}
	for n := range 1001 {
		require.LessOrEqual(t, columns(bar(n, 1000, 7)), 7)
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
		require.Equal(t, c.want, strip(c.numbers, c.columns, c.hand), "%+v", c)
	}
}

func TestFill(t *testing.T) {
	require.Equal(t, "µs··  ", left("µs··", 6))
	require.Equal(t, "  µs··", right("µs··", 6))
	require.Equal(t, "longer", left("longer", 3))
	require.Equal(t, "longer", right("longer", 3))
}

func TestTable(t *testing.T) {
	s, out := page()
	s.table(row{"", "wheel", "package time"}, []row{{"setting a timer", "64 ns", "1.2 µs"}, {"a year", "1 s", "–"}})
	require.Equal(t, `
                                                         wheel    package time
  ────────────────────────────────────────────────────────────────────────────
  setting a timer                                        64 ns          1.2 µs
  a year                                                   1 s               –
`, "\n"+out.String())
}

func TestCircles(t *testing.T) {
	s, out := page()
	slots := make([]int, 64)
	slots[2], slots[40] = 1200, 34
	newTour(options{}, s).circles([]hierarchy.CircleStats{
		{Width: 1 << 24, Hand: 9, Slots: make([]int, 64)},
		{Width: 1 << 30, Hand: 0, Base: true, Slots: slots},
	})
	require.Contains(t, out.String(), "1,234 timers stood at that moment")
	require.Contains(t, out.String(), `
  slot width slots, and the hand │               timers
     16.8 ms ····│···························         0
      1.07 s │█··················▁···········     1,234  ████████████████████
`)
}
