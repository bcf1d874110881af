package frame

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// allOf reads one of each.
func allOf(r *Reader) []any {
	return []any{r.Byte(), r.Fixed(), r.Uvarint(), r.Varint(), string(r.Bytes()), r.Count(2)}
}

// What was written is read, and of anything shorter nothing is made up.
func TestReader(t *testing.T) {
	b := []byte{7}
	b = binary.LittleEndian.AppendUint64(b, 1<<60)
	b = binary.AppendUvarint(b, 300)
	b = binary.AppendVarint(b, -300)
	b = AppendBytes(b, "bytes")
	b = binary.AppendUvarint(b, 2)
	rest := []byte("four")
	r := Reader{B: append(b, rest...)}
	require.Equal(t, []any{byte(7), uint64(1 << 60), uint64(300), int64(-300), "bytes", 2}, allOf(&r))
	require.Equal(t, rest, r.B)
	require.False(t, r.Ended())
	for n := range len(b) + len(rest) - 1 {
		r := Reader{B: append(b, rest...)[:n:n]}
		allOf(&r)
		require.True(t, r.Failed, n)
		require.False(t, r.Ended())
		require.Equal(t, []any{byte(0), uint64(0), uint64(0), int64(0), "", 0}, allOf(&r))
	}
	r = Reader{}
	require.True(t, r.Ended())
}
