package embedded

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// Damage in one stream is told to those who want to know. The server goes on, and the stream is set aside when it
// ends.
func TestDamageInOneStream(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}})
		require.NoError(t, err)
	}
	told := make(chan string, 2)
	stop := s.OnCorrupt(func(stream string, err error) { told <- fmt.Sprint(stream, ": ", err) })
	l := &logger{Server: s.Server}
	for range 2 {
		l.Errorf("JetStream stream '%s > %s' critical write error: %v", "$G", "a", "malformed or corrupt message in 1.blk")
	}
	require.Contains(t, <-told, "a: "+ErrCorrupt.Error())
	stop()
	l.Errorf("JetStream stream '%s > %s' critical write error: %v", "$G", "c", "malformed or corrupt message in 1.blk")
	require.NoError(t, s.Problem())
	_, err = js.Publish(t.Context(), "b", nil)
	require.NoError(t, err)
	require.NoError(t, s.Aside("a"))
	s.Close()
	require.Empty(t, told)
	require.DirExists(t, aside(dir, "a"))
	require.NoDirExists(t, aside(dir, "b"))
	s, err = Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.Close()
	require.ErrorIs(t, s.Aside("a"), ErrCorrupt)
	require.ErrorContains(t, s.Aside("a"), aside(dir, "a"))
	require.NoError(t, s.Aside("b"))
	require.NoError(t, os.RemoveAll(aside(dir, "a")))
	require.NoError(t, s.Aside("a"))
}
