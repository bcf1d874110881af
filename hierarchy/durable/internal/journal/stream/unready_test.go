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
		&problem{Code: 500, ErrorCode: codeOffline}, &jetstream.APIError{Code: 500, ErrorCode: codeOffline},
		context.DeadlineExceeded, errNoAnswer, nats.ErrTimeout, nats.ErrDisconnected,
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

// Servers that do not know of each other, of a stream or of JetStream, are not taken for servers that have
// no leader.
func TestIsUnsettled(t *testing.T) {
	for _, err := range []error{
		&jetstream.APIError{Code: 400, ErrorCode: codeNoPeers},
		&problem{Code: 404, ErrorCode: codeNoStream},
		&problem{Code: 404, ErrorCode: codeNoMessage},
		jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound, nats.ErrNoResponders,
		&jetstream.APIError{Code: 503, ErrorCode: jetstream.JSErrCodeJetStreamNotEnabledForAccount},
	} {
		err = fmt.Errorf("a reason: %w", err)
		require.True(t, IsUnsettled(err), err.Error())
		require.False(t, IsUnready(err), err.Error())
	}
	for _, err := range []error{
		&jetstream.APIError{Code: 400, ErrorCode: codeOneServer}, &problem{Code: 400, ErrorCode: codeTooLarge},
		jetstream.ErrStreamNameAlreadyInUse, ErrPartitions,
	} {
		require.False(t, IsUnsettled(err), err.Error())
	}
}
