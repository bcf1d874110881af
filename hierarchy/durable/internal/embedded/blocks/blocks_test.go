package blocks_test

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded/blocks"
)

// written is a stream that a server has written: with gaps, with messages with headers, and with deleted ones.
func written(t testing.TB, n, size int) (stream string) {
	dir := t.TempDir()
	s, err := embedded.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.Close()
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s.*"}, MaxMsgsPerSubject: 5})
	require.NoError(t, err)
	for i := range n {
		_, err := js.Publish(t.Context(), fmt.Sprint("s.", i%7), make([]byte, size), jetstream.WithExpectLastSequence(uint64(i)))
		require.NoError(t, err)
	}
	require.NoError(t, made.Purge(t.Context(), jetstream.WithPurgeSubject("s.3")))
	require.NoError(t, made.Purge(t.Context(), jetstream.WithPurgeSequence(uint64(n/2))))
	return filepath.Join(dir, "streams", "jetstream", "$G", "streams", "s")
}

// A stream as a server leaves it is whole. Each bit of each sequence counts, and what is cut off is left to the
// server.
func TestSequences(t *testing.T) {
	stream := written(t, 40, 10)
	require.NoError(t, blocks.Check(stream))
	numbers, err := blocks.Numbers(stream)
	require.NoError(t, err)
	require.NotEmpty(t, numbers)
	file := filepath.Join(stream, "msgs", fmt.Sprintf("%d.blk", numbers[len(numbers)-1]))
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	records := 0
	for at := 0; at < len(good); records++ {
		size := int(binary.LittleEndian.Uint32(good[at:]) &^ (1 << 31))
		for bit := range 64 {
			bad := append([]byte(nil), good...)
			bad[at+4+bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(file, bad, 0o600))
			require.ErrorIs(t, blocks.Check(stream), blocks.ErrSequence, "bit %d at %d", bit, at)
		}
		require.NoError(t, os.WriteFile(file, good[:at+size/2], 0o600))
		require.NoError(t, blocks.Check(stream))
		at += size
	}
	require.Greater(t, records, 5)
	require.NoError(t, os.WriteFile(file, append(good, make([]byte, 100)...), 0o600))
	require.NoError(t, blocks.Check(stream))
	require.NoError(t, blocks.Check(t.TempDir()))
}

func BenchmarkCheck(b *testing.B) {
	for _, size := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("impl=check/n=%d", size), func(b *testing.B) {
			stream := written(b, 300, size)
			info, err := os.ReadDir(filepath.Join(stream, "msgs"))
			require.NoError(b, err)
			total := int64(0)
			for _, e := range info {
				i, err := e.Info()
				require.NoError(b, err)
				total += i.Size()
			}
			b.SetBytes(total)
			for b.Loop() {
				require.NoError(b, blocks.Check(stream))
			}
		})
	}
}
