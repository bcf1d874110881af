package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The codes of JetStream's errors that nats.go has no name for.
const (
	codeNoPeers   = 10005
	codeTooLarge  = 10054 // the message exceeds the maximum
	codeNoCluster = 10074 // replicas need a cluster
	codeOffline   = 10118 // the servers that have the stream are away
)

// problem is an error in an answer to a request of this package.
type problem struct {
	Code        int                 `json:"code"`
	ErrorCode   jetstream.ErrorCode `json:"err_code"`
	Description string              `json:"description"`
}

func (p *problem) Error() string {
	return fmt.Sprintf("JetStream: %s (%d)", p.Description, p.ErrorCode)
}

// has reports whether an error of JetStream has one of these codes, also if it came by nats.go.
func has(err error, codes ...jetstream.ErrorCode) bool {
	var own *problem
	var api *jetstream.APIError
	var is jetstream.ErrorCode
	switch {
	case errors.As(err, &own):
		is = own.ErrorCode
	case errors.As(err, &api):
		is = api.ErrorCode
	}
	return slices.Contains(codes, is)
}

// isRefused reports whether an error says that the expected sequence is another. Newer servers have a second
// code for streams with replicas.
func isRefused(err error) bool {
	return has(err, jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// isTooLarge reports whether an error says that a message is larger than the stream takes, or the servers do.
func isTooLarge(err error) bool { return has(err, codeTooLarge) || errors.Is(err, nats.ErrMaxPayload) }

// isNoMessage reports whether an error says that there is no such message.
func isNoMessage(err error) bool { return has(err, jetstream.JSErrCodeMessageNotFound) }

// isNoStream reports whether an error says that there is no such stream.
func isNoStream(err error) bool { return has(err, jetstream.JSErrCodeStreamNotFound) }

// isNoCluster reports whether an error says that there is one server, which can't have replicas.
func isNoCluster(err error) bool { return has(err, codeNoCluster) }

// isUnready reports whether an error says that the servers may answer later: they have just begun, or lost
// one of them.
func isUnready(err error) bool {
	var own *problem
	var api *jetstream.APIError
	var late noAnswer
	switch {
	case errors.As(err, &own):
		return own.Code == 503 || own.ErrorCode == codeOffline
	case errors.As(err, &api):
		return api.ErrorCode == codeOffline || api.Code == 503 && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled &&
			api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, nats.ErrDisconnected)
}

// isUnsettled reports whether an error says that the servers do not know of each other yet, not of what has
// just been made or written, or not of JetStream. If it lasts, there are not enough servers for the
// replicas, or there is no JetStream on them or for the account.
func isUnsettled(err error) bool {
	var own *problem
	if errors.As(err, &own) {
		return has(own, jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeMessageNotFound)
	}
	return has(err, codeNoPeers, jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeJetStreamNotEnabledForAccount) ||
		errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, nats.ErrNoResponders)
}
