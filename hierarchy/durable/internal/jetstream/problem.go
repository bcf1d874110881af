package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The codes of JetStream's errors for which nats.go has no name.
const (
	codeNoPeers   = 10005
	codeTooLarge  = 10054 // the message exceeds the maximum
	codeNoCluster = 10074 // replicas need a cluster
	codeOffline   = 10118 // the servers that store the stream are offline
)

// problem is the error in an answer to a request that this package, rather than nats.go, has sent.
type problem struct {
	Code        int                 `json:"code"`
	ErrorCode   jetstream.ErrorCode `json:"err_code"`
	Description string              `json:"description"`
}

func (p *problem) Error() string {
	return fmt.Sprintf("JetStream: %s (%d)", p.Description, p.ErrorCode)
}

// problemOf returns the error of JetStream that err is or wraps, or nil. own is false if nats.go has decoded it.
func problemOf(err error) (p *problem, own bool) {
	var api *jetstream.APIError
	switch {
	case errors.As(err, &p):
		return p, true
	case errors.As(err, &api):
		return &problem{api.Code, api.ErrorCode, api.Description}, false
	}
	return nil, false
}

// has reports whether an error is an error of JetStream with one of these codes.
func has(err error, codes ...jetstream.ErrorCode) bool {
	p, _ := problemOf(err)
	return p != nil && slices.Contains(codes, p.ErrorCode)
}

// isRefused reports whether an error means that the expected sequence was wrong. Newer servers have a second code for
// streams with replicas.
func isRefused(err error) bool {
	return has(err, jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// isNoMessage reports whether an error means that there is no such message.
func isNoMessage(err error) bool { return has(err, jetstream.JSErrCodeMessageNotFound) }

// isNoStream reports whether an error means that there is no such stream.
func isNoStream(err error) bool { return has(err, jetstream.JSErrCodeStreamNotFound) }

// isUnready reports whether an error means that the servers may answer later: they have just started, or have lost one
// of the servers.
func isUnready(err error) bool {
	if p, own := problemOf(err); p != nil {
		disabled := has(err, jetstream.JSErrCodeJetStreamNotEnabled, jetstream.JSErrCodeJetStreamNotEnabledForAccount)
		return p.ErrorCode == codeOffline || p.Code == 503 && (own || !disabled)
	}
	var late noAnswer
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, nats.ErrDisconnected)
}

// isUnsettled reports whether an error means that the servers do not know yet about each other, about JetStream, or
// about what has just been created or written. If it lasts, there are not enough servers for the replicas, or no
// JetStream on them or for the account.
func isUnsettled(err error) bool {
	if _, own := problemOf(err); own {
		return has(err, jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeMessageNotFound)
	}
	return has(err, codeNoPeers, jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeJetStreamNotEnabledForAccount) ||
		errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, nats.ErrNoResponders)
}
