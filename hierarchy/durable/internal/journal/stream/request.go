package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// The codes of JetStream's errors that mean something here.
const (
	codeWrongLast      = 10071 // the expected sequence is another
	codeWrongLastOther = 10164 // the same, in newer servers, for some kinds of check
	codeTooLarge       = 10054 // the message exceeds the maximum
	codeNoStream       = 10059
	codeNoMessage      = 10037
	codeNoPeers        = 10005
	codeOffline        = 10118 // the servers that have the stream are away
)

// problem is an error in an answer of JetStream.
type problem struct {
	Code        int    `json:"code"`
	ErrorCode   int    `json:"err_code"`
	Description string `json:"description"`
}

func (p *problem) Error() string {
	return fmt.Sprintf("JetStream: %s (%d)", p.Description, p.ErrorCode)
}

// Unwrap is the error of package journal for p, or nil.
func (p *problem) Unwrap() error {
	switch p.ErrorCode {
	case codeWrongLast, codeWrongLastOther:
		return journal.ErrRefused
	case codeTooLarge:
		return journal.ErrTooLarge
	case codeNoMessage:
		return journal.ErrAbsent
	}
	return nil
}

// IsUnready tells whether an error of Open says that the servers may answer later: they have just
// begun, or lost one of them.
func IsUnready(err error) bool {
	var own *problem
	var api *jetstream.APIError
	switch {
	case errors.As(err, &own):
		return own.Code == 503 || own.ErrorCode == codeOffline
	case errors.As(err, &api):
		return api.ErrorCode == codeOffline || api.Code == 503 && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled &&
			api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNoAnswer) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, nats.ErrDisconnected)
}

// IsUnsettled tells whether an error of Open says that the servers do not know of each other yet, not of
// what has just been made or written, or not of JetStream. If it lasts, there are not enough servers for
// the replicas, or there is no JetStream on them or for the account.
func IsUnsettled(err error) bool {
	var own *problem
	if errors.As(err, &own) {
		return own.ErrorCode == codeNoStream || own.ErrorCode == codeNoMessage
	}
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode == codeNoPeers || api.ErrorCode == codeNoStream ||
			api.ErrorCode == jetstream.JSErrCodeJetStreamNotEnabledForAccount
	}
	return errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, nats.ErrNoResponders)
}

// ask sends a request to JetStream's API and decodes the answer.
func ask(ctx context.Context, nc *nats.Conn, subject string, request, answer any) error {
	data := []byte(nil)
	if request != nil {
		data, _ = json.Marshal(request) // requests are structs of ours
	}
	m, err := wait(ctx, &nats.Msg{Subject: "$JS.API." + subject, Data: data}, nc)
	if err != nil {
		return err
	}
	return decode(m.Data, answer)
}

// longest is how long an answer may take, if ctx allows more. A server that has found its files
// damaged may not answer at all.
const longest = 5 * time.Second

var errNoAnswer = fmt.Errorf("JetStream has not answered within %v", longest)

// wait sends a request and waits for its answer.
func wait(ctx context.Context, request *nats.Msg, nc *nats.Conn) (*nats.Msg, error) {
	limited, cancel := context.WithTimeoutCause(ctx, longest, errNoAnswer)
	defer cancel()
	m, err := nc.RequestMsgWithContext(limited, request)
	if err != nil && limited.Err() != nil {
		return nil, context.Cause(limited)
	}
	return m, unanswered(err)
}

// decode decodes an answer, which may be an error.
func decode(data []byte, answer any) error {
	var failed struct {
		Error *problem `json:"error"`
	}
	if err := json.Unmarshal(data, &failed); err != nil {
		return fmt.Errorf("JetStream: an answer that is not understood: %w", err)
	}
	if failed.Error != nil {
		return failed.Error
	}
	return json.Unmarshal(data, answer)
}

// unanswered says in plain words why there was no answer.
func unanswered(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("no server answers for JetStream: %w", err)
	}
	return err
}
