package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// marks is where the mark of one partition is: in a stream for all marks of a name.
type marks struct {
	nc      conn
	stream  string
	subject string
	pause   time.Duration // after the first refusal, then doubled
}

const (
	markPause = 20 * time.Millisecond
	// refusals is how often a mark may be refused for which no other has come. A leader also refuses while
	// a copy that was sent before is on its way to the replicas, which takes seconds after an election.
	refusals = 9
)

// errUnreadable is for what has the place of a mark and is none. The server has checksums of its own, so it is what
// somebody has published.
var errUnreadable = fmt.Errorf("%w: it is no mark", storage.ErrStranger)

// get returns the mark and the sequence of its message.
func (k *marks) get(ctx context.Context) (storage.Mark, uint64, error) {
	data, sequence, err := lastThat(ctx, k.nc, k.stream, k.subject, func(b []byte) bool {
		_, ok := storage.DecodeMark(b)
		return ok
	})
	if isNoStream(err) {
		err = fmt.Errorf("%w: the stream %s is missing: %w", storage.ErrDamaged, k.stream, err)
	}
	if err != nil {
		return storage.Mark{}, 0, err
	}
	m, ok := storage.DecodeMark(data)
	if !ok {
		return m, sequence, errUnreadable
	}
	return m, sequence, nil
}

// raise replaces the mark, unless it is as high already. So an owner that was replaced can't lower
// it. One that can't be read is replaced: strangers have published others in its place.
func (k *marks) raise(ctx context.Context, m storage.Mark) error {
	retry := wait.Backoff{First: k.pause, Last: k.pause << refusals}
	for tried, refused := uint64(0), 0; ; {
		there, sequence, err := k.get(ctx)
		if err != nil && !errors.Is(err, storage.ErrAbsent) && !errors.Is(err, errUnreadable) {
			return err
		}
		if err == nil && there.Number >= m.Number {
			return nil
		}
		_, err = publish(ctx, k.nc, k.subject, nats.ExpectedLastSubjSeqHdr, sequence, m.Encode())
		if !errors.Is(err, storage.ErrRefused) {
			return err
		}
		// Another owner may have been faster, but then there is another message.
		if refused++; sequence != tried {
			tried, refused = sequence, 0
			retry.Reset()
		} else if refused > refusals {
			return fmt.Errorf("%w: its mark can't be replaced", storage.ErrDamaged)
		}
		if !retry.Wait(ctx) {
			return ctx.Err()
		}
	}
}

// meant adds the error of package storage that an error of JetStream means, if it means one.
func meant(err error) error {
	switch {
	case isRefused(err):
		return fmt.Errorf("%w: %w", storage.ErrRefused, err)
	case isTooLarge(err):
		return fmt.Errorf("%w: %w", storage.ErrTooLarge, err)
	case isNoMessage(err):
		return fmt.Errorf("%w: %w", storage.ErrAbsent, err)
	}
	return err
}

// lastThat returns the last message of a subject that is as it must be, and the sequence of the last one of all: the
// subject's stream keeps two, and a stranger may have published to it. If neither is right, it is the last one.
func lastThat(ctx context.Context, nc conn, stream, subject string, right func([]byte) bool) ([]byte, uint64, error) {
	data, sequence, err := last(ctx, nc, stream, subject)
	if err != nil || right(data) {
		return data, sequence, err
	}
	if m, err := firstMessage(ctx, nc, stream, subject); err == nil && right(m.Data) {
		data = m.Data
	}
	return data, sequence, nil
}

// last returns the last message of a subject, as the stream's leader knows it, or ErrAbsent.
func last(ctx context.Context, nc conn, stream, subject string) (data []byte, sequence uint64, err error) {
	m, err := lastMessage(ctx, nc, stream, subject)
	return m.Data, m.Sequence, meant(err)
}
