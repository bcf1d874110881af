package dq

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A consumer that has stopped takes no job, also if some are due. They stay for the next one.
func TestNothingIsTakenAfterTheEnd(t *testing.T) {
	var d due
	d.put(job{key: "a"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, ok := d.take(ctx)
	require.False(t, ok)
	j, ok := d.take(context.Background())
	require.True(t, ok)
	require.Equal(t, "a", j.key)
}
