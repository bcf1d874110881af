package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// answerTime limits how long to wait for an answer, if the context allows more: a request that was sent before there was a
// leader is never answered.
const answerTime = 5 * time.Second

// noAnswer is the error of a request without an answer. Its value is the time that was waited.
type noAnswer time.Duration

func (d noAnswer) Error() string {
	return fmt.Sprintf("JetStream has not answered within %v", time.Duration(d))
}

// callAPI sends a request to JetStream's API and decodes the answer.
func callAPI(ctx context.Context, nc *nats.Conn, subject string, request, answer any) error {
	data := []byte(nil)
	if request != nil {
		data, _ = json.Marshal(request) // requests are structs of this package
	}
	return await(ctx, nc, &nats.Msg{Subject: "$JS.API." + subject, Data: data}, answer)
}

// send publishes a message, and returns its sequence in the stream.
func send(ctx context.Context, nc *nats.Conn, m *nats.Msg) (sequence uint64, err error) {
	var ack struct {
		Sequence uint64 `json:"seq"`
	}
	err = await(ctx, nc, m, &ack)
	return ack.Sequence, err
}

// await sends a request, waits for its answer and decodes it.
func await(ctx context.Context, nc *nats.Conn, request *nats.Msg, answer any) error {
	limited, cancel := context.WithTimeoutCause(ctx, answerTime, noAnswer(answerTime))
	defer cancel()
	m, err := nc.RequestMsgWithContext(limited, request)
	if err != nil && limited.Err() != nil {
		return context.Cause(limited)
	}
	if err != nil {
		return unanswered(err)
	}
	return decode(m.Data, answer)
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

// unanswered adds to ErrNoResponders an explanation.
func unanswered(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("no server answers for JetStream: %w", err)
	}
	return err
}

// message is a message as a stream's leader returns it.
type message struct {
	Sequence uint64 `json:"seq"`
	Header   []byte `json:"hdrs"`
	Data     []byte `json:"data"`
}

// which identifies a message: by its number, as the last one of a subject, or as the first one of a subject from a
// number on.
type which struct {
	Sequence uint64 `json:"seq,omitempty"`
	LastOf   string `json:"last_by_subj,omitempty"`
	NextOf   string `json:"next_by_subj,omitempty"`
}

// getMessage gets a message from the leader of a stream, since a replica may be behind.
func getMessage(ctx context.Context, nc *nats.Conn, stream string, w which) (message, error) {
	var answer struct {
		Message message `json:"message"`
	}
	err := callAPI(ctx, nc, "STREAM.MSG.GET."+stream, w, &answer)
	return answer.Message, err
}
