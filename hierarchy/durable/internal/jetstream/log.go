package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Log is the log of one partition.
type Log struct {
	nc      *nats.Conn
	stream  string
	subject string // the subject of the frames
	needs   usage
	marks   marks
	// portions limits how many portions all logs of the set read at once.
	portions chan struct{}
	patience time.Duration // the limit for the wait for the next message of a portion
}

var _ storage.Log = (*Log)(nil)

// room is the number of bytes that a message of JetStream needs in addition to a frame: for the header with the
// expected sequence, and for other bytes that the server counts as part of the message.
const room = 1 << 10

// MaxMessage changes when the servers' max_payload does.
func (l *Log) MaxMessage() int { return int(l.nc.MaxPayload()) - room }

func (l *Log) Append(ctx context.Context, last uint64, data []byte) error {
	if most := l.MaxMessage(); len(data) > most {
		return fmt.Errorf("%w: %d bytes of at most %d", storage.ErrTooLarge, len(data), most)
	}
	n, err := publish(ctx, l.nc, l.subject, nats.ExpectedLastSeqHdr, last, data)
	if err == nil && n != last+1 {
		return fmt.Errorf("JetStream stored message %d as %d", last+1, n)
	}
	return err
}

// publish publishes data, on the condition that a header expresses.
func publish(ctx context.Context, nc *nats.Conn, subject, header string, value uint64, data []byte) (uint64, error) {
	m := &nats.Msg{Subject: subject, Data: data, Header: nats.Header{header: {strconv.FormatUint(value, 10)}}}
	n, err := send(ctx, nc, m)
	return n, denied(nc, subject, meant(err))
}

func (l *Log) Get(ctx context.Context, number uint64) (data []byte, err error) {
	if number == 0 {
		return nil, fmt.Errorf("%w: 0", storage.ErrAbsent)
	}
	for data, err = range l.read(ctx, number, number, 1) {
	}
	return data, err
}

func (l *Log) Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return l.read(ctx, from, to, atOnce)
}

// Bounds also returns an error if the stream has settings that lose messages.
func (l *Log) Bounds(ctx context.Context) (storage.Bounds, error) {
	in, err := inspect(ctx, l.nc, l.stream, l.needs)
	if err != nil {
		return storage.Bounds{}, err
	}
	b := storage.Bounds{First: in.State.First, Last: in.State.Last, Most: max(0, in.Config.MaxBytes)}
	if in.State.Count == 0 {
		b.First = b.Last + 1
	}
	return b, nil
}

func (l *Log) Trim(ctx context.Context, begin uint64) error {
	if begin <= 1 {
		return nil
	}
	return callAPI(ctx, l.nc, "STREAM.PURGE."+l.stream, which{Sequence: begin}, &struct{}{})
}

func (l *Log) Mark(ctx context.Context) (storage.Mark, error) {
	m, _, err := l.marks.get(ctx)
	return m, err
}

func (l *Log) SetMark(ctx context.Context, m storage.Mark) error { return l.marks.raise(ctx, m) }

// denied returns ErrDenied instead of err if a server has refused this connection the permission to publish to the
// subject. Servers report that as an error of the connection, and do not answer the message.
func denied(nc *nats.Conn, subject string, err error) error {
	why := nc.LastError()
	if err != nil && errors.Is(why, nats.ErrPermissionViolation) && strings.Contains(why.Error(), `"`+subject+`"`) {
		return fmt.Errorf("%w: %w", storage.ErrDenied, why)
	}
	return err
}
