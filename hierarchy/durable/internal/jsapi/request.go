package jsapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Conn is a connection to servers with JetStream.
type Conn struct {
	*nats.Conn
	// Longest is how long an answer may take, if the context allows more: a server that has found its files damaged
	// may not answer at all, and one that has no leader yet does not answer when it has one. Default 5s.
	Longest time.Duration
}

// Patience is Longest, or its default.
func (c Conn) Patience() time.Duration { return cmp.Or(c.Longest, 5*time.Second) }

// noAnswer is the error of a request for which there was no answer for so long.
type noAnswer time.Duration

func (d noAnswer) Error() string {
	return fmt.Sprintf("JetStream has not answered within %v", time.Duration(d))
}

// Ask sends a request to JetStream's API and decodes the answer.
func Ask(ctx context.Context, nc Conn, subject string, request, answer any) error {
	data := []byte(nil)
	if request != nil {
		data, _ = json.Marshal(request) // requests are structs of ours
	}
	m, err := wait(ctx, nc, &nats.Msg{Subject: "$JS.API." + subject, Data: data})
	if err != nil {
		return err
	}
	return decode(m.Data, answer)
}

// Publish publishes a message, and returns the sequence that it has in its stream.
func Publish(ctx context.Context, nc Conn, m *nats.Msg) (sequence uint64, err error) {
	answer, err := wait(ctx, nc, m)
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

// wait sends a request and waits for its answer.
func wait(ctx context.Context, nc Conn, request *nats.Msg) (*nats.Msg, error) {
	limited, cancel := context.WithTimeoutCause(ctx, nc.Patience(), noAnswer(nc.Patience()))
	defer cancel()
	m, err := nc.RequestMsgWithContext(limited, request)
	if err != nil && limited.Err() != nil {
		return nil, context.Cause(limited)
	}
	return m, Unanswered(err)
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

// Unanswered says in plain words why there was no answer.
func Unanswered(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("no server answers for JetStream: %w", err)
	}
	return err
}
