package durable_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// streamCopy is what `nats stream backup` makes.
type streamCopy struct {
	Config json.RawMessage `json:"config"`
	State  json.RawMessage `json:"state"`
	chunks [][]byte
}

// backUp copies a stream, which may be in use.
func backUp(t *testing.T, nc *nats.Conn, stream string) (c streamCopy) {
	sub, err := nc.SubscribeSync(nc.NewInbox())
	require.NoError(t, err)
	defer sub.Unsubscribe()
	request := fmt.Sprintf(`{"deliver_subject":%q,"no_consumers":true,"chunk_size":4096}`, sub.Subject)
	m, err := nc.Request("$JS.API.STREAM.SNAPSHOT."+stream, []byte(request), time.Minute)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(m.Data, &c))
	require.NotEmpty(t, c.Config, "%s", m.Data)
	for {
		m, err := sub.NextMsg(time.Minute)
		require.NoError(t, err)
		if len(m.Data) == 0 {
			return c
		}
		c.chunks = append(c.chunks, m.Data)
		if m.Reply != "" {
			require.NoError(t, m.Respond(nil))
		}
	}
}

// restore makes a stream of a copy.
func restore(t *testing.T, nc *nats.Conn, stream string, c streamCopy) {
	request, err := json.Marshal(c)
	require.NoError(t, err)
	m, err := nc.Request("$JS.API.STREAM.RESTORE."+stream, request, time.Minute)
	require.NoError(t, err)
	var to struct {
		Subject string `json:"deliver_subject"`
	}
	require.NoError(t, json.Unmarshal(m.Data, &to))
	require.NotEmpty(t, to.Subject, "%s", m.Data)
	for _, chunk := range append(c.chunks, nil) {
		// The server that we are connected to may not have heard yet that another one listens.
		require.Eventually(t, func() bool {
			m, err = nc.Request(to.Subject, chunk, time.Minute)
			return !errors.Is(err, nats.ErrNoResponders)
		}, time.Minute, 10*time.Millisecond)
		require.NoError(t, err)
	}
	require.NotContains(t, string(m.Data), `"error"`)
}

// A backup as docs/durable-cluster.md describes it, made while timers are set, is complete: the marks first,
// then each log.
func TestBackupOfACluster(t *testing.T) {
	urls, _ := natsServers(t, 1)
	var r record
	nc := connect(t, urls)
	w := openShared(t, nc, &r, 2*time.Second)
	ctx := t.Context()
	const before = 200
	for i := range before {
		require.NoError(t, errOf(w.Set(ctx, fmt.Sprint("before", i), "value", time.Hour)))
	}
	streams := []string{"epicycle_timers_marks"}
	for at := range 8 {
		streams = append(streams, fmt.Sprintf("epicycle_timers_%d", at))
	}
	copies := make(map[string]streamCopy)
	for n, stream := range streams {
		copies[stream] = backUp(t, nc, stream)
		for i := range 20 {
			require.NoError(t, errOf(w.Set(ctx, fmt.Sprintf("meanwhile%d-%d", n, i), "value", time.Hour)))
		}
		time.Sleep(200 * time.Millisecond) // marks are written once a second: some are between two copies
	}
	require.NoError(t, w.Shutdown(ctx))

	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	for _, stream := range append(streams, "KV_epicycle_timers") {
		require.NoError(t, js.DeleteStream(ctx, stream))
	}
	for _, stream := range streams {
		restore(t, nc, stream, copies[stream])
	}
	w = openShared(t, nc, &r, 2*time.Second)
	require.Zero(t, w.Stats().Damaged)
	for i := range before {
		requirePending(t, w, fmt.Sprint("before", i))
	}
	require.NoError(t, errOf(w.Set(ctx, "after", "value", 0)))
	require.Eventually(t, func() bool { return r.len() == 1 }, time.Minute, 10*time.Millisecond)
}

// requirePending finds a timer that is due in an hour.
func requirePending(t *testing.T, w *strs, key string) {
	var v string
	var left time.Duration
	var ok bool
	require.NoError(t, insist(func() (err error) {
		v, left, ok, err = w.Get(t.Context(), key)
		return err
	}))
	require.True(t, ok)
	require.Equal(t, "value", v)
	require.Greater(t, left, 50*time.Minute)
}
