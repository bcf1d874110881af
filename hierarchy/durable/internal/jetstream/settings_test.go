package jetstream_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	streams "github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

func names(t *testing.T, js jetstream.JetStream) (all []string) {
	list := js.StreamNames(t.Context())
	for name := range list.Name() {
		all = append(all, name)
	}
	require.NoError(t, list.Err())
	return all
}

// A stream that another has made, and that loses messages, is refused before anything is made.
func TestStreamOfAnother(t *testing.T) {
	for _, name := range []string{"epicycle_x_marks", "epicycle_x_1"} {
		nc := streams.Connect(t)
		js, err := jetstream.New(nc)
		require.NoError(t, err)
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{"other"}, MaxAge: time.Hour})
		require.NoError(t, err)
		_, err = streams.Open(t.Context(), streams.Config{Conn: nc, Name: "x", Partitions: 2})
		require.ErrorIs(t, err, storage.ErrSettings)
		require.ErrorContains(t, err, "the stream "+name)
		require.Equal(t, []string{name}, names(t, js))
	}
}

// A set whose stream was edited is refused, and so is what an open log says of its end.
func TestStreamThatWasEdited(t *testing.T) {
	nc := streams.Connect(t)
	cfg := streams.Config{Conn: nc, Name: "x", Partitions: 2}
	set, err := streams.Open(t.Context(), cfg)
	require.NoError(t, err)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	edit := func(name string, change func(*jetstream.StreamConfig)) {
		there, err := js.Stream(t.Context(), name)
		require.NoError(t, err)
		edited := there.CachedInfo().Config
		change(&edited)
		_, err = js.UpdateStream(t.Context(), edited)
		require.NoError(t, err)
	}
	for _, name := range []string{"epicycle_x_1", "epicycle_x_marks"} {
		edit(name, func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 })
		_, err = streams.Open(t.Context(), cfg)
		require.ErrorContains(t, err, "the stream "+name+" has settings that it must not have: max_bytes is 1048576")
		edit(name, func(c *jetstream.StreamConfig) { c.Discard, c.Description = jetstream.DiscardNew, "a limit" })
		_, err = streams.Open(t.Context(), cfg)
		require.NoError(t, err)
	}
	edit("epicycle_x_1", func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour })
	_, err = set.Logs[1].Bounds(t.Context())
	require.ErrorIs(t, err, storage.ErrSettings)
}

// A stream that was deleted is not made again: nobody would see that something is missing, and a backup
// could not be restored.
func TestStreamThatWasDeleted(t *testing.T) {
	nc := streams.Connect(t)
	cfg := streams.Config{Conn: nc, Name: "x", Partitions: 2}
	set, err := streams.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, set.Logs[0].Append(t.Context(), 0, []byte("a frame")))
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "epicycle_x_1"))
	set, err = streams.Open(t.Context(), cfg)
	require.NoError(t, err)
	_, err = set.Logs[1].Bounds(t.Context())
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.ErrorContains(t, err, "the stream epicycle_x_1 is missing")
	require.NotContains(t, names(t, js), "epicycle_x_1")

	require.NoError(t, js.DeleteStream(t.Context(), "epicycle_x_marks"))
	_, err = set.Logs[0].Mark(t.Context())
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.ErrorContains(t, err, "the stream epicycle_x_marks is missing")
	_, err = streams.Open(t.Context(), cfg)
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.Equal(t, []string{"epicycle_x_0"}, names(t, js))
}

// The record of a format that this program does not know is refused as such, whatever else it has.
func TestNewerSet(t *testing.T) {
	for record, text := range map[string]string{
		`{"format":2,"logs":"elsewhere"}`:  "format 2, and this program knows format 1",
		`{"format":2,"partitions":"many"}`: "format 2, and this program knows format 1",
		`{"format":0,"partitions":2}`:      "can't be read",
		`{"partitions":2}`:                 "can't be read",
		`{`:                                "can't be read",
	} {
		nc := streams.Connect(t)
		js, err := jetstream.New(nc)
		require.NoError(t, err)
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "epicycle_x_marks", Subjects: []string{"epicycle.x.mark.*"}})
		require.NoError(t, err)
		_, err = js.Publish(t.Context(), "epicycle.x.mark.about", []byte(record))
		require.NoError(t, err)
		_, err = streams.Open(t.Context(), streams.Config{Conn: nc, Name: "x", Partitions: 2})
		require.ErrorContains(t, err, text)
		require.Equal(t, []string{"epicycle_x_marks"}, names(t, js))
	}
}
