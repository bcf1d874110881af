package stream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

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

// last is the last message of a subject, as the stream's leader knows it, or ErrAbsent.
func last(ctx context.Context, nc *nats.Conn, stream, subject string) (data []byte, sequence uint64, err error) {
	m, err := jsapi.Last(ctx, nc, stream, subject)
	return m.Data, m.Sequence, meant(err)
}
