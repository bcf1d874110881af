package hashwheel

import (
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/thw"
	"github.com/stretchr/testify/require"
)

// TestEachReadsTheOther writes entries with one and reads them with the other.
func TestEachReadsTheOther(t *testing.T) {
	makers := []func() wheel{
		func() wheel { return thw.NewHashWheel() },
		func() wheel { return NewHashWheel() },
	}
	for _, newWriter := range makers {
		for _, newReader := range makers {
			from, to := newWriter(), newReader()
			entries := map[uint64]int64{}
			for range 1000 {
				entries[rand.Uint64()] = rand.Int64N(math.MaxInt64) - int64(time.Hour)
			}
			for seq, expires := range entries {
				require.NoError(t, from.Add(seq, expires))
			}
			stamp, err := to.Decode(from.Encode(12345))
			require.NoError(t, err)
			require.EqualValues(t, 12345, stamp)
			require.EqualValues(t, len(entries), to.Count())
			require.Equal(t, from.GetNextExpiration(math.MaxInt64), to.GetNextExpiration(math.MaxInt64))
			for seq, expires := range entries {
				require.NoError(t, to.Remove(seq, expires))
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	good := NewHashWheel()
	require.NoError(t, good.Add(1, math.MaxInt64))
	whole := good.Encode(7)
	for _, w := range []wheel{thw.NewHashWheel(), NewHashWheel()} {
		for length := range whole {
			want := io.ErrUnexpectedEOF
			if length < headerLen {
				want = io.ErrShortBuffer
			}
			_, err := w.Decode(whole[:length])
			require.Equal(t, want, err)
		}
		_, err := w.Decode(append([]byte{2}, whole[1:]...))
		require.Equal(t, thw.ErrInvalidVersion, err)
	}
}
