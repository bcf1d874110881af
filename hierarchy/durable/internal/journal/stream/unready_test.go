package stream

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// Servers that have no leader say so in several ways.
func TestIsUnready(t *testing.T) {
	for _, err := range []error{
		&problem{Code: 503, ErrorCode: 10008},
		&jetstream.APIError{Code: 503, ErrorCode: 10008},
		context.DeadlineExceeded, errNoAnswer, nats.ErrTimeout, nats.ErrDisconnected, nats.ErrNoResponders,
	} {
		require.True(t, IsUnready(fmt.Errorf("a reason: %w", err)), err.Error())
	}
	for _, err := range []error{
		&problem{Code: 404, ErrorCode: codeNoStream},
		&jetstream.APIError{Code: 400, ErrorCode: codeOneServer},
		&jetstream.APIError{Code: 503, ErrorCode: jetstream.JSErrCodeJetStreamNotEnabled},
		ErrPartitions, errors.New("other"),
	} {
		require.False(t, IsUnready(err), err.Error())
	}
}

// Too few servers are not taken for servers that have no leader.
func TestIsUnplaced(t *testing.T) {
	err := fmt.Errorf("a reason: %w", &jetstream.APIError{Code: 400, ErrorCode: codeNoPeers})
	require.True(t, IsUnplaced(err))
	require.False(t, IsUnready(err))
	require.False(t, IsUnplaced(&jetstream.APIError{Code: 400, ErrorCode: codeOneServer}))
}
