package storage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Patience determines how long Commit waits for an answer before it retries, and how often it retries. The zero
// Patience is ready to use.
type Patience struct {
	Answer time.Duration // how long each call to the log may take, default 5s
	Pause  time.Duration // the pause before the first retry, doubled each time up to a second; default 5ms
	// Doubt, if not nil, is called once for each Commit that got no clear answer at first.
	Doubt func(error)
	// Stranger, if not nil, reports whether a message of the log was written by somebody other than its owners.
	Stranger func(data []byte, number uint64) bool
}

// Commit appends data as message last+1. If the answer is lost, it finds out whether the message is in the log. It
// returns nil if it is, and ErrTaken, ErrStranger or ErrTooLarge if it is not and never will be. After any other error
// the outcome is unknown: the error is ErrReplaced, or ctx is done, or the log accepts only smaller messages than
// before.
func (p Patience) Commit(ctx context.Context, log Log, last uint64, data []byte) error {
	sure := true // it is certain that no copy was appended
	for retry := (wait.Backoff{First: cmp.Or(p.Pause, 5*time.Millisecond), Last: time.Second}); ; {
		err := p.try(ctx, log, last, data, &sure)
		if isClear(err) || sure && errors.Is(err, ErrTooLarge) {
			return err
		}
		if errors.Is(err, ErrTooLarge) { // it was not too large when it was first sent
			return fmt.Errorf("it may have been appended: %v", err)
		}
		p.doubt(err)
		if !retry.Wait(ctx) {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// doubt calls Doubt, once.
func (p *Patience) doubt(err error) {
	if p.Doubt != nil {
		p.Doubt(err)
		p.Doubt = nil
	}
}

func isClear(err error) bool {
	return err == nil || errors.Is(err, ErrTaken) || errors.Is(err, ErrStranger) || errors.Is(err, ErrReplaced)
}

var errNoAnswer = errors.New("no answer")

// append appends once, and waits for the answer for at most Answer.
func (p *Patience) append(ctx context.Context, log Log, last uint64, data []byte) error {
	limited, cancel := p.WithTimeout(ctx)
	defer cancel()
	err := log.Append(limited, last, data)
	if err != nil && limited.Err() != nil && ctx.Err() == nil && !errors.Is(err, ErrDenied) {
		// err may be the error of limited, a context that callers do not know.
		return fmt.Errorf("%w within %v", errNoAnswer, p.answer())
	}
	return err
}

// WithTimeout returns a context for a request to the log. It ends with ctx, or when an answer takes too long.
func (p *Patience) WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.answer())
}

func (p *Patience) answer() time.Duration { return cmp.Or(p.Answer, 5*time.Second) }

// try appends once. If the answer is not clear, it reads once whether the message is in the log. It sets sure to false
// if the message may have been appended.
func (p *Patience) try(ctx context.Context, log Log, last uint64, data []byte, sure *bool) error {
	err := p.append(ctx, log, last, data)
	if errors.Is(err, errNoAnswer) {
		p.doubt(err) // if the log is silent, the read takes as long again
	}
	if err == nil || errors.Is(err, ErrTooLarge) && *sure {
		return err
	}
	*sure = *sure && errors.Is(err, ErrRefused)
	limited, cancel := p.WithTimeout(ctx)
	defer cancel()
	there, gone := log.Get(limited, last+1)
	switch {
	case gone == nil && bytes.Equal(there, data):
		return nil
	case gone == nil && p.Stranger != nil && p.Stranger(there, last+1):
		return ErrStranger
	case gone == nil:
		return ErrTaken
	case errors.Is(gone, ErrAbsent):
		// If the log begins after this number, a later owner has deleted the message with the number, which was ours
		// or another one.
		if b, failed := log.Bounds(limited); failed == nil && b.First > last+1 {
			return ErrReplaced
		} else if failed == nil {
			return err
		}
	}
	*sure = false // what was refused may be a second copy
	return err
}
