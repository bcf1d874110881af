package steps

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// Shrink leaves what a failure needs.
func TestShrink(t *testing.T) {
	h := Draw(1, 5, 100)
	a, b := h.Steps[20], h.Steps[77]
	small := h.Shrink(func(h History) bool {
		return h.Workers >= 2 && slices.Contains(h.Steps, a) && slices.Contains(h.Steps, b)
	})
	require.Equal(t, History{2, []uint64{a, b}}, small)
}

// A history has the same trace each time, unless what it drives has chance of its own.
func TestSame(t *testing.T) {
	run := func(h History, trace *Trace) error {
		for _, s := range h.Steps {
			trace.Add("%d", Rand(s).IntN(10))
		}
		return errors.New("fails")
	}
	require.NoError(t, Draw(1, 1, 20).Same(run))
	chance := 0
	require.ErrorContains(t, Draw(1, 1, 20).Same(func(_ History, trace *Trace) error {
		chance++
		trace.Add("%d", chance)
		return nil
	}), "line 0 is\n1\nand\n2")
}

// A panic is a failure.
func TestPanic(t *testing.T) {
	_, err := Draw(1, 1, 1).Do(func(History, *Trace) error { panic("no") })
	require.ErrorContains(t, err, "panic: no")
}

// A Tally is read as it was written.
func TestTally(t *testing.T) {
	var sum Tally
	sum.Add(Tally{1, 2, 3, time.Minute})
	sum.Add(Tally{1, 2, 3, time.Hour})
	require.Equal(t, Tally{2, 4, 6, time.Hour + time.Minute}, sum)
	got, ok := ParseTally(sum.String())
	require.True(t, ok)
	require.Equal(t, sum, got)
	_, ok = ParseTally("PASS")
	require.False(t, ok)
}

// Pairs are read as they were written.
func TestPairs(t *testing.T) {
	sum, more := Pairs{Of: 3}, Pairs{Of: 3}
	sum.Add(2, 0)
	more.Add(0, 2)
	more.Add(1, 1)
	sum.Join(more)
	n, most := sum.Counts()
	require.Equal(t, [2]int{2, 6}, [2]int{n, most})
	require.Equal(t, "pairs of faults, of 3: 0+2 1+1", sum.String())
	got, ok := ParsePairs(sum.String())
	require.True(t, ok)
	require.Equal(t, sum, got)
	_, ok = ParsePairs("PASS")
	require.False(t, ok)
}
