package stream

import (
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
)

// A server that does not answer ends reading, also if the context has no end.
func TestReadingEndsInSilence(t *testing.T) {
	s, err := embedded.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	asked := make(chan bool, 100)
	sub, err := s.Conn().Subscribe("$JS.API.DIRECT.GET.silent", func(*nats.Msg) { asked <- true })
	require.NoError(t, err)
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	log := &Log{nc: s.Conn(), stream: "silent", portions: make(chan struct{}, 1), patience: time.Millisecond}
	n := 0
	for _, err := range log.Read(t.Context(), 1, 5) {
		require.ErrorContains(t, err, "does not answer the request for message 1")
		n++
	}
	require.Equal(t, 1, n)
	for range silences {
		<-asked
	}
}
