package stream

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// A replica that is behind does not make messages absent: the leader has them.
func TestReplicaThatIsBehind(t *testing.T) {
	s, err := embedded.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	nc := s.Conn()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	// A stream without AllowDirect answers for its leader alone. The replica is this test's.
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "behind", Subjects: []string{"behind"}})
	require.NoError(t, err)
	log := &Log{nc: nc, stream: "behind", subject: "behind", most: 1 << 10, portions: make(chan struct{}, 1), patience: time.Minute}
	for i := range uint64(5) {
		require.NoError(t, log.Append(t.Context(), i, fmt.Append(nil, i+1)))
	}
	sub, err := nc.Subscribe("$JS.API.DIRECT.GET.behind", func(m *nats.Msg) {
		none := nats.NewMsg(m.Reply)
		none.Header.Set("Status", "404")
		_ = nc.PublishMsg(none)
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	var got []string
	for data, err := range log.Read(t.Context(), 1, 6) {
		if err != nil {
			require.ErrorIs(t, err, journal.ErrAbsent)
			break
		}
		got = append(got, string(data))
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5"}, got)
}
