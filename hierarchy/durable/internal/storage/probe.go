package storage

import (
	"context"
	"errors"
)

// nowhere is a place that no log has yet.
const nowhere = 1 << 62

// errTook is for a log that appends what it must refuse.
var errTook = errors.New("the log has appended a message behind its end")

// Probe is nil if the log can be written to from here, as far as that can be known without a message in it:
// it has to refuse one that belongs behind its end.
func (p Patience) Probe(ctx context.Context, log Log) error {
	err := p.append(ctx, log, nowhere, []byte("can this process write here?"))
	switch {
	case errors.Is(err, ErrRefused):
		return nil
	case err == nil:
		return errTook
	}
	return err
}
