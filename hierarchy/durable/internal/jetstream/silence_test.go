package jetstream

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// A server that does not answer ends reading, also if the context has no end.
func TestReadingEndsInSilence(t *testing.T) {
	nc := Connect(t)
	asked := make(chan bool, 100)
	impersonate(t, nc, "$JS.API.DIRECT.GET.silent", func(*nats.Msg) { asked <- true })
	log := &Log{nc: nc, stream: "silent", portions: make(chan struct{}, 1), patience: time.Millisecond}
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
