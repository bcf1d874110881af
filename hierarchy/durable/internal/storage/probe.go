package storage

import (
	"context"
	"errors"
)

// nowhere is a number that no log has reached.
const nowhere = 1 << 62

// Probe returns nil if this process can write to the log, as far as that can be known without writing a message: the
// log has to refuse a message that belongs far behind its end.
func (p Patience) Probe(ctx context.Context, log Log) error {
	err := p.append(ctx, log, nowhere, []byte("can this process write here?"))
	switch {
	case errors.Is(err, ErrRefused):
		return nil
	case err == nil:
		return errors.New("the log has appended a message behind its end")
	}
	return err
}
