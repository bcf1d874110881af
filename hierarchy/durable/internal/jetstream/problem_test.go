package jetstream

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
		context.DeadlineExceeded, noAnswer(1), nats.ErrTimeout, nats.ErrDisconnected,
	} {
		require.True(t, isUnready(fmt.Errorf("a reason: %w", err)), err.Error())
	}
	for _, err := range []error{
		&problem{Code: 404, ErrorCode: jetstream.JSErrCodeStreamNotFound},
		&jetstream.APIError{Code: 400, ErrorCode: codeNoCluster},
		&jetstream.APIError{Code: 503, ErrorCode: jetstream.JSErrCodeJetStreamNotEnabled},
		errors.New("other"), nil,
	} {
		require.False(t, isUnready(err), err)
	}
}

// Servers that do not know of each other, of a stream or of JetStream, are not taken for servers that have
// no leader.
func TestIsUnsettled(t *testing.T) {
	for _, err := range []error{
		&jetstream.APIError{Code: 400, ErrorCode: codeNoPeers},
		&problem{Code: 404, ErrorCode: jetstream.JSErrCodeStreamNotFound},
		&problem{Code: 404, ErrorCode: jetstream.JSErrCodeMessageNotFound},
		jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound, nats.ErrNoResponders,
		&jetstream.APIError{Code: 503, ErrorCode: jetstream.JSErrCodeJetStreamNotEnabledForAccount},
	} {
		err = fmt.Errorf("a reason: %w", err)
		require.True(t, isUnsettled(err), err)
		require.False(t, isUnready(err), err)
	}
	for _, err := range []error{
		&jetstream.APIError{Code: 400, ErrorCode: codeNoCluster}, &problem{Code: 400, ErrorCode: codeTooLarge},
		jetstream.ErrStreamNameAlreadyInUse, errors.New("other"), nil,
	} {
		require.False(t, isUnsettled(err), err)
	}
}

// What an error says is known by its code, whoever has decoded it.
func TestCodes(t *testing.T) {
	asks := []func(error) bool{isRefused, isNoMessage, isNoStream}
	for want, codes := range [][]jetstream.ErrorCode{{10071, 10164}, {10037}, {10059}, {10054, 10074}} {
		for _, code := range codes {
			for _, err := range []error{&problem{ErrorCode: code}, &jetstream.APIError{ErrorCode: code}} {
				for i, is := range asks {
					require.Equal(t, i == want, is(fmt.Errorf("a reason: %w", err)), "%d of %d", i, code)
				}
			}
		}
	}
	for _, is := range asks {
		require.False(t, is(nil))
		require.False(t, is(errors.New("other")))
	}
}
