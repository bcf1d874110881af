package jetstream

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// A leader refuses a mark for a while when a copy of it is on its way to the replicas. That is no
// damage. A mark that is always refused is.
func TestMarkThatIsRefusedForAWhile(t *testing.T) {
	nc := Connect(t)
	// The stream has no mark. This test is the leader that is asked to store one.
	makeStream(t, nc, "marks", "others")
	left := 6
	impersonate(t, nc, "mark", func(m *nats.Msg) {
		if left--; left >= 0 {
			_ = m.Respond([]byte(`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence"}}`))
			return
		}
		_ = m.Respond([]byte(`{"stream":"marks","seq":1}`))
	})
	k := &marks{nc, "marks", "mark", time.Millisecond}
	require.NoError(t, k.raise(t.Context(), storage.Mark{Number: 1}))
	require.Equal(t, -1, left)
	left = 1000
	require.ErrorIs(t, k.raise(t.Context(), storage.Mark{Number: 1}), storage.ErrDamaged)
	require.Equal(t, 1000-refusals-1, left)
}
