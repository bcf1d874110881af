package jetstream_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/logtest"
)

func TestContract(t *testing.T) {
	nc := jetstream.Connect(t)
	names := 0
	logtest.Run(t, func(t *testing.T) func() storage.Log {
		names++
		name := fmt.Sprintf("set%d", names)
		return func() storage.Log {
			set, err := jetstream.Open(t.Context(), jetstream.Config{Conn: nc, Name: name, Partitions: 2})
			require.NoError(t, err)
			return set.Logs[1]
		}
	})
}

// Many logs that are read at once don't have the server drop the connection.
func TestManyLogsAreReadAtOnce(t *testing.T) {
	const logs, messages = 16, 12
	nc := jetstream.Connect(t)
	set, err := jetstream.Open(t.Context(), jetstream.Config{Conn: nc, Name: "many", Partitions: logs})
	require.NoError(t, err)
	data := make([]byte, 512<<10)
	for _, log := range set.Logs {
		for i := range messages {
			require.NoError(t, log.Append(t.Context(), uint64(i), data))
		}
	}
	before := nc.Stats().Reconnects
	var wg sync.WaitGroup
	for _, log := range set.Logs {
		wg.Go(func() {
			n := 0
			for _, err := range log.Read(t.Context(), 1, messages) {
				assert.NoError(t, err)
				n++
			}
			assert.Equal(t, messages, n)
		})
	}
	wg.Wait()
	require.Equal(t, before, nc.Stats().Reconnects)
}

func TestNumberOfPartitionsStays(t *testing.T) {
	nc := jetstream.Connect(t)
	open := func(n int) (int, error) {
		set, err := jetstream.Open(t.Context(), jetstream.Config{Conn: nc, Name: "x", Partitions: n})
		if err != nil {
			return 0, err
		}
		return len(set.Logs), nil
	}
	n, err := open(0)
	require.NoError(t, err)
	require.Equal(t, jetstream.DefaultPartitions, n)
	_, err = open(4)
	require.ErrorIs(t, err, jetstream.ErrPartitions)
	n, err = open(8)
	require.NoError(t, err)
	require.Equal(t, 8, n)
}

// Messages that somebody else has published are read like any, whatever their headers say.
func TestStrangersMessagesAreRead(t *testing.T) {
	nc := jetstream.Connect(t)
	set, err := jetstream.Open(t.Context(), jetstream.Config{Conn: nc, Name: "x", Partitions: 1})
	require.NoError(t, err)
	log, want := set.Logs[0], []string(nil)
	for _, header := range []nats.Header{nil, {"Status": {"204"}}, {"Status": {"404"}}, {"Status": {"503"}}, {"Status": {"500"}},
		{"Nats-Sequence": {"1"}}, {"Nats-Last-Sequence": {"1"}, "Status": {"204"}}} {
		for _, body := range []string{"", "hello"} {
			require.NoError(t, log.Append(t.Context(), uint64(len(want)), []byte("frame")))
			require.NoError(t, nc.PublishMsg(&nats.Msg{Subject: "epicycle.x.log.0", Header: header, Data: []byte(body)}))
			require.NoError(t, nc.Flush())
			want = append(want, "frame", body)
			require.Eventually(t, func() bool {
				b, err := log.Bounds(t.Context())
				return err == nil && b.Last == uint64(len(want))
			}, 10*time.Second, time.Millisecond)
		}
	}
	var got []string
	for data, err := range log.Read(t.Context(), 1, uint64(len(want))) {
		require.NoError(t, err)
		got = append(got, string(data))
	}
	require.Equal(t, want, got)
	for i := range want {
		data, err := log.Get(t.Context(), uint64(i+1))
		require.NoError(t, err)
		require.Equal(t, want[i], string(data))
	}
}

// A message that somebody else has published to the subject of a mark, or of the record of the set, is left out.
func TestStrangersAmongMarks(t *testing.T) {
	nc := jetstream.Connect(t)
	cfg := jetstream.Config{Conn: nc, Name: "x", Partitions: 1}
	set, err := jetstream.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, set.Logs[0].SetMark(t.Context(), storage.Mark{Number: 3, Checksum: 7}))
	for _, subject := range []string{"epicycle.x.mark.0", "epicycle.x.mark.about"} {
		_, err = nc.Request(subject, []byte("hello"), 10*time.Second)
		require.NoError(t, err)
	}
	set, err = jetstream.Open(t.Context(), cfg)
	require.NoError(t, err)
	mark, err := set.Logs[0].Mark(t.Context())
	require.NoError(t, err)
	require.Equal(t, storage.Mark{Number: 3, Checksum: 7}, mark)
	require.NoError(t, set.Logs[0].SetMark(t.Context(), storage.Mark{Number: 2}), "marks only rise")
	require.NoError(t, set.Logs[0].SetMark(t.Context(), storage.Mark{Number: 4}))
	mark, err = set.Logs[0].Mark(t.Context())
	require.NoError(t, err)
	require.Equal(t, storage.Mark{Number: 4}, mark)

	for range 2 { // the stream keeps no more
		_, err = nc.Request("epicycle.x.mark.0", []byte("hello"), 10*time.Second)
		require.NoError(t, err)
	}
	_, err = set.Logs[0].Mark(t.Context())
	require.ErrorIs(t, err, storage.ErrStranger)
	require.NotErrorIs(t, err, storage.ErrDamaged)
	require.NoError(t, set.Logs[0].SetMark(t.Context(), storage.Mark{Number: 5}), "its owner knows it")
	mark, err = set.Logs[0].Mark(t.Context())
	require.NoError(t, err)
	require.Equal(t, storage.Mark{Number: 5}, mark)
}

// A record that strangers have published over is counted again, if the logs were written to.
func TestStrangersOverTheRecord(t *testing.T) {
	nc := jetstream.Connect(t)
	cfg := jetstream.Config{Conn: nc, Name: "x", Partitions: 3}
	set, err := jetstream.Open(t.Context(), cfg)
	require.NoError(t, err)
	for _, stray := range []string{"hello", "{}"} {
		_, err = nc.Request("epicycle.x.mark.about", []byte(stray), 10*time.Second)
		require.NoError(t, err)
	}
	_, err = jetstream.Open(t.Context(), cfg)
	require.ErrorIs(t, err, storage.ErrDamaged, "perhaps not all logs were made")
	require.NoError(t, set.Logs[1].Append(t.Context(), 0, []byte("a frame")))
	cfg.Partitions = 0
	set, err = jetstream.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, set.Logs, 3)
	cfg.Partitions = 2
	_, err = jetstream.Open(t.Context(), cfg)
	require.ErrorIs(t, err, jetstream.ErrPartitions)
}
