package jetstream

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// Connect connects to a server in this process with empty files, until the test ends.
func Connect(t testing.TB) *nats.Conn {
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s.Conn()
}

// makeStream makes a stream.
func makeStream(t *testing.T, nc *nats.Conn, name, subject string) {
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}})
	require.NoError(t, err)
}

// impersonate has the test answer what a server would be asked, until the test ends.
func impersonate(t *testing.T, nc *nats.Conn, subject string, answer func(*nats.Msg)) {
	sub, err := nc.Subscribe(subject, answer)
	require.NoError(t, err)
	t.Cleanup(func() { _ = sub.Unsubscribe() })
}
