package stream

import (
	"context"

	"github.com/nats-io/nats.go"
)

// stored is a message as the leader of a stream has it.
type stored struct {
	Sequence uint64 `json:"seq"`
	Data     []byte `json:"data"`
}

// ofLeader asks the leader of a stream for one message.
func ofLeader(ctx context.Context, nc *nats.Conn, stream string, request any) (stored, error) {
	var answer struct {
		Message stored `json:"message"`
	}
	err := ask(ctx, nc, "STREAM.MSG.GET."+stream, request, &answer)
	return answer.Message, err
}

func (l *Log) ofLeader(ctx context.Context, request any) (stored, error) {
	return ofLeader(ctx, l.nc, l.stream, request)
}

// latest is the last message of a subject, as the stream's leader knows it.
func latest(ctx context.Context, nc *nats.Conn, stream, subject string) (data []byte, sequence uint64, err error) {
	request := struct {
		Subject string `json:"last_by_subj"`
	}{subject}
	m, err := ofLeader(ctx, nc, stream, request)
	return m.Data, m.Sequence, err
}
