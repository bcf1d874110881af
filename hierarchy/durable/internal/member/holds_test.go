package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

func TestHoldsAllocatesNothing(t *testing.T) {
	m, err := Join(t.Context(), Config{Store: new(memtable.Table).Open(), Partitions: 1})
	require.NoError(t, err)
	defer m.Stop()
	require.NoError(t, m.Claim(t.Context(), 0))
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if !m.Holds() || !m.Owns(0) {
			t.Error("it holds")
		}
	}))
}

func BenchmarkHolds(b *testing.B) {
	m, err := Join(b.Context(), Config{Store: new(memtable.Table).Open(), Partitions: 1})
	require.NoError(b, err)
	defer m.Stop()
	b.ReportAllocs()
	for b.Loop() {
		m.Holds()
	}
}

func TestBootTimeGoesOn(t *testing.T) {
	before := bootTime()
	require.GreaterOrEqual(t, before, time.Duration(0))
	time.Sleep(time.Millisecond)
	require.GreaterOrEqual(t, bootTime()-before, time.Millisecond)
}
