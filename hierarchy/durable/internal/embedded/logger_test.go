package embedded

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the server says is told to all who have the directory open, and to nobody else.
func TestMessagesGoToTheLoggersOfAllOpens(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var texts [2]bytes.Buffer
	var shares [2]*Share
	for i := range texts {
		log := slog.New(slog.NewTextHandler(&texts[i], nil))
		s, err := Open(ctx, dir, log)
		require.NoError(t, err)
		shares[i] = s
		again, err := Open(ctx, dir, log)
		require.NoError(t, err)
		defer again.Close()
		if i == 0 {
			again.Close()
		}
	}
	l := &logger{Server: shares[0].Server}
	l.Warnf("line %d", 1)
	shares[0].Close()
	l.Warnf("line %d", 2)
	require.Equal(t, 1, bytes.Count(texts[0].Bytes(), []byte("line")))
	require.Contains(t, texts[0].String(), "server: line 1")
	require.Equal(t, 2, bytes.Count(texts[1].Bytes(), []byte("line"))) // once, though it has it open twice
	shares[1].Close()
}
