package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// page returns a screen that is not a terminal, and the buffer it writes to.
func page() (*terminal.Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return terminal.New(&out, os.Getenv), &out
}

func TestTable(t *testing.T) {
	s, out := page()
	newTour(options{}, s).table(row{"", "wheel", "package time"}, []row{{"setting a timer", "64 ns", "1.2 µs"}, {"a year", "1 s", "–"}})
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

func TestPerTimer(t *testing.T) {
	require.Equal(t, "41"+terminal.NoBreak+"bytes", perTimer(41_400_000, 1_000_000))
	require.Equal(t, "42"+terminal.NoBreak+"bytes", perTimer(41_500_000, 1_000_000))
}
