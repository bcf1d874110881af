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

// marks stores the mark of one partition, in a stream that has all marks of a name.
type marks struct {
	nc      *nats.Conn
	stream  string
	subject string
	pause   time.Duration // the pause after the first refusal; doubled for each further one
}

const (
	markPause = 20 * time.Millisecond
	// refusals is the number of times that the server may refuse a mark although the subject has no other message. A
	// leader also refuses while an earlier copy is on its way to the replicas, which takes seconds after an election.
	refusals = 9
)

// errUnreadable is for a message in the place of a mark that is not a mark. Somebody else has published such a message.
// It is no damaged mark, since the server has checksums of its own.
var errUnreadable = fmt.Errorf("%w: it is no mark", storage.ErrStranger)

// get returns the mark and the sequence of its message.
func (k *marks) get(ctx context.Context) (storage.Mark, uint64, error) {
	data, sequence, err := lastThat(ctx, k.nc, k.stream, k.subject, func(b []byte) bool {
		_, ok := storage.DecodeMark(b)
		return ok
	})
	if err != nil {
		return storage.Mark{}, 0, missing(k.stream, err)
	}
	m, ok := storage.DecodeMark(data)
	if !ok {
		err = errUnreadable
	}
	return m, sequence, err
}

// raise replaces the mark, unless the present mark is as high already, so that a stale owner can't lower it. It also
// replaces a message that can't be read, since strangers have published it.
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
		// Another owner may have been faster, but then the subject's last message has changed.
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

// meant wraps an error of JetStream in the error of package storage that corresponds to it, if any.
func meant(err error) error {
	switch {
	case isRefused(err):
		return fmt.Errorf("%w: %w", storage.ErrRefused, err)
	case has(err, codeTooLarge), errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", storage.ErrTooLarge, err)
	case isNoMessage(err):
		return fmt.Errorf("%w: %w", storage.ErrAbsent, err)
	}
	return err
}

// lastThat returns the last message of a subject for which right returns true, and the sequence of the subject's last
// message of all, or ErrAbsent if there are none. The stream keeps the last two messages of each subject, as a stranger
// may have published one. If neither is right, lastThat returns the last one.
func lastThat(ctx context.Context, nc *nats.Conn, stream, subject string, right func([]byte) bool) ([]byte, uint64, error) {
	last, err := getMessage(ctx, nc, stream, which{LastOf: subject})
	if err != nil || right(last.Data) {
		return last.Data, last.Sequence, meant(err)
	}
	if first, err := getMessage(ctx, nc, stream, which{Sequence: 1, NextOf: subject}); err == nil && right(first.Data) {
		return first.Data, last.Sequence, nil
	}
	return last.Data, last.Sequence, nil
}
