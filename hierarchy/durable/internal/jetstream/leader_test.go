package jetstream

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// A replica that is behind does not make messages absent: the leader has them.
func TestReplicaThatIsBehind(t *testing.T) {
	nc := Connect(t)
	// A stream without AllowDirect answers for its leader alone. The replica is this test's.
	makeStream(t, nc, "behind", "behind")
	log := &Log{nc: nc, stream: "behind", subject: "behind", portions: make(chan struct{}, 1), patience: time.Minute}
	for i := range uint64(5) {
		require.NoError(t, log.Append(t.Context(), i, fmt.Append(nil, i+1)))
	}
	impersonate(t, nc, "$JS.API.DIRECT.GET.behind", func(m *nats.Msg) {
		none := nats.NewMsg(m.Reply)
		none.Header.Set("Status", "404")
		_ = nc.PublishMsg(none)
	})
	var got []string
	for data, err := range log.Read(t.Context(), 1, 6) {
		if err != nil {
			require.ErrorIs(t, err, storage.ErrAbsent)
			break
		}
		got = append(got, string(data))
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5"}, got)
}
