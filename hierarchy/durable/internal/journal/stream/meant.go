package stream

import (
	"context"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jsapi"
)

// meant adds the error of package journal that an error of JetStream means, if it means one.
func meant(err error) error {
	switch {
	case jsapi.IsRefused(err):
		return fmt.Errorf("%w: %w", journal.ErrRefused, err)
	case jsapi.IsTooLarge(err):
		return fmt.Errorf("%w: %w", journal.ErrTooLarge, err)
	case jsapi.IsNoMessage(err):
		return fmt.Errorf("%w: %w", journal.ErrAbsent, err)
	}
	return err
}

// lastThat is the last message of a subject that is as it must be, and the sequence of the last one of all: the
// subject's stream keeps two, and a stranger may have published to it. If neither is right, it is the last one.
func lastThat(ctx context.Context, nc jsapi.Conn, stream, subject string, right func([]byte) bool) ([]byte, uint64, error) {
	data, sequence, err := last(ctx, nc, stream, subject)
	if err != nil || right(data) {
		return data, sequence, err
	}
	if m, err := jsapi.First(ctx, nc, stream, subject); err == nil && right(m.Data) {
		data = m.Data
	}
	return data, sequence, nil
}

// last is the last message of a subject, as the stream's leader knows it, or ErrAbsent.
func last(ctx context.Context, nc jsapi.Conn, stream, subject string) (data []byte, sequence uint64, err error) {
	m, err := jsapi.Last(ctx, nc, stream, subject)
	return m.Data, m.Sequence, meant(err)
}
