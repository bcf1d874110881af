package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// conn is a connection to servers with JetStream.
type conn struct {
	*nats.Conn
	// Longest is how long an answer may take, if the context allows more: a server that has found its files damaged
	// may not answer at all, and one that has no leader yet does not answer when it has one. Default 5s.
	Longest time.Duration
}

// Patience is Longest, or its default.
func (c conn) Patience() time.Duration { return cmp.Or(c.Longest, 5*time.Second) }

// noAnswer is the error of a request for which there was no answer for so long.
type noAnswer time.Duration

func (d noAnswer) Error() string {
	return fmt.Sprintf("JetStream has not answered within %v", time.Duration(d))
}

// callAPI sends a request to JetStream's API and decodes the answer.
func callAPI(ctx context.Context, nc conn, subject string, request, answer any) error {
	data := []byte(nil)
	if request != nil {
		data, _ = json.Marshal(request) // requests are structs of ours
	}
	m, err := await(ctx, nc, &nats.Msg{Subject: "$JS.API." + subject, Data: data})
	if err != nil {
		return err
	}
	return decode(m.Data, answer)
}

// send publishes a message, and returns the sequence that it has in its stream.
func send(ctx context.Context, nc conn, m *nats.Msg) (sequence uint64, err error) {
	answer, err := await(ctx, nc, m)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Sequence uint64 `json:"seq"`
	}
	if err := decode(answer.Data, &ack); err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// await sends a request and waits for its answer.
func await(ctx context.Context, nc conn, request *nats.Msg) (*nats.Msg, error) {
	limited, cancel := context.WithTimeoutCause(ctx, nc.Patience(), noAnswer(nc.Patience()))
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

// message is a message as the leader of a stream has it.
type message struct {
	Sequence uint64 `json:"seq"`
	Header   []byte `json:"hdrs"`
	Data     []byte `json:"data"`
}

// getMessage gets one message from the leader of a stream. A replica that is behind does not have all.
func getMessage(ctx context.Context, nc conn, stream string, sequence uint64) (message, error) {
	return ofLeader(ctx, nc, stream, struct {
		Sequence uint64 `json:"seq"`
	}{sequence})
}

// lastMessage gets the last message of a subject from the leader of a stream.
func lastMessage(ctx context.Context, nc conn, stream, subject string) (message, error) {
	return ofLeader(ctx, nc, stream, struct {
		Subject string `json:"last_by_subj"`
	}{subject})
}

// firstMessage gets the first message of a subject from the leader of a stream.
func firstMessage(ctx context.Context, nc conn, stream, subject string) (message, error) {
	return ofLeader(ctx, nc, stream, struct {
		Sequence uint64 `json:"seq"`
		Subject  string `json:"next_by_subj"`
	}{1, subject})
}

func ofLeader(ctx context.Context, nc conn, stream string, request any) (message, error) {
	var answer struct {
		Message message `json:"message"`
	}
	err := callAPI(ctx, nc, "STREAM.MSG.GET."+stream, request, &answer)
	return answer.Message, err
}
