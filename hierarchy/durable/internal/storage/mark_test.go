package storage_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

func TestMarksAreChecked(t *testing.T) {
	m := storage.Mark{Number: 1 << 50, Checksum: 99}
	b := m.Encode()
	there, ok := storage.DecodeMark(b)
	require.True(t, ok)
	require.Equal(t, m, there)
	for i := range b {
		b[i] ^= 1
		_, ok := storage.DecodeMark(b)
		require.False(t, ok, "byte %d", i)
		b[i] ^= 1
		_, ok = storage.DecodeMark(b[:i])
		require.False(t, ok)
	}
}
