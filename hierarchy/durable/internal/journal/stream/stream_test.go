package stream_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/journaltest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/stream"
)

func TestContract(t *testing.T) {
	nc := stream.Connect(t)
	names := 0
	journaltest.Run(t, func(t *testing.T) func() journal.Log {
		names++
		name := fmt.Sprintf("set%d", names)
		return func() journal.Log {
			set, err := stream.Open(t.Context(), stream.Config{Conn: nc, Name: name, Partitions: 2})
			require.NoError(t, err)
			return set.Logs[1]
		}
	})
}

// Many logs that are read at once don't have the server drop the connection.
func TestManyLogsAreReadAtOnce(t *testing.T) {
	const logs, messages = 16, 12
	nc := stream.Connect(t)
	set, err := stream.Open(t.Context(), stream.Config{Conn: nc, Name: "many", Partitions: logs})
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
	nc := stream.Connect(t)
	open := func(n int) (int, error) {
		set, err := stream.Open(t.Context(), stream.Config{Conn: nc, Name: "x", Partitions: n})
		if err != nil {
			return 0, err
		}
		return len(set.Logs), nil
	}
	n, err := open(0)
	require.NoError(t, err)
	require.Equal(t, stream.DefaultPartitions, n)
	_, err = open(4)
	require.ErrorIs(t, err, stream.ErrPartitions)
	n, err = open(8)
	require.NoError(t, err)
	require.Equal(t, 8, n)
}
