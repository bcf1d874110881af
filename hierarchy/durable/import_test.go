package durable

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// A partition that is full keeps nothing from the others, also not what comes in later batches.
func TestImportBesideAFullPartition(t *testing.T) {
	const room, few, many = 600, 590, 1500
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	defer s.Close()
	w, err := Open(t.Context(), Config[string, string]{Conn: s.Conn(), Partitions: 2, Lease: time.Minute, MaxPending: room,
		Handle: func(context.Context, Firing[string, string]) error { return nil }})
	require.NoError(t, err)
	defer w.Close()
	var lines strings.Builder
	left := [2]int{few, many}
	for i := 1; left != [2]int{}; i++ {
		key := fmt.Sprint(i)
		if at := of([]byte(key), 2); left[at] > 0 {
			left[at]--
			fmt.Fprintf(&lines, `{"key":%q,"value":1,"id":"%032x","due":"2200-01-01T00:00:00Z","state":"waiting"}`+"\n", key, i)
		}
	}
	fmt.Fprintf(&lines, `{"timers":%d}`, few+many)
	n, err := w.Import(t.Context(), strings.NewReader(lines.String()))
	require.ErrorIs(t, err, ErrFull)
	require.NotErrorIs(t, err, ErrIncomplete)
	require.Equal(t, few, w.Stats().Partitions[0].Pending)
	require.Equal(t, n-few, w.Stats().Partitions[1].Pending)
}
