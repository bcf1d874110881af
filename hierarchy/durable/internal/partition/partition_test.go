package partition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIdleWritesNothing(t *testing.T) {
	b := newBench(t)
	b.cfg.MarkEvery = time.Millisecond
	b.open()
	b.set("a", "", 1000*time.Hour)
	before := b.disk.Appends()
	b.mock.Add(999 * time.Hour)
	require.Equal(t, before, b.disk.Appends())
	require.Nil(t, b.disk.Open().Trim(t.Context(), 1))
}

func TestNothingIsWrittenForWhatTakesNoHold(t *testing.T) {
	b := newBench(t)
	b.open()
	before := b.disk.Appends()
	b.False(b.move("a", 0))
	_, ok := b.remove("a")
	b.False(ok)
	b.False(b.revive("a"))
	b.Equal(before, b.disk.Appends())
}
