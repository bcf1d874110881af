package member

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
)

// change puts value at key, or deletes key if value is nil, if its revision is last. It returns what
// the key has afterwards: that, or what another has written. If an answer is lost, it reads the record
// and sends the same again, until one of the two is certain. An error comes only when ctx is done,
// and leaves it in doubt. refused, if not nil, is called when the table refuses.
func (m *Member) change(ctx context.Context, key string, value []byte, last uint64, refused func()) (table.Record, error) {
	pause := min(5*time.Millisecond, longestPause(m.cfg.Lease))
	for {
		r, err := m.try(ctx, key, value, last, refused)
		if err == nil {
			return r, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return r, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		pause = min(2*pause, longestPause(m.cfg.Lease))
	}
}

// try changes once, and looks once what is there if that is not clear.
func (m *Member) try(ctx context.Context, key string, value []byte, last uint64, refused func()) (table.Record, error) {
	r, err := m.send(ctx, key, value, last)
	if err == nil {
		return r, nil
	}
	no := errors.Is(err, table.ErrRefused)
	if no && refused != nil {
		refused()
	}
	there, missing := m.get(ctx, key)
	switch {
	case missing != nil && !errors.Is(missing, table.ErrAbsent):
		return r, err
	case there.Revision > last:
		return there, nil
	case no && there.Revision == 0 && last > 0:
		return m.deleteAbsent(ctx, key, last)
	}
	return r, err
}

// send sends one copy of a change.
func (m *Member) send(ctx context.Context, key string, value []byte, last uint64) (r table.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease/6)
	defer cancel()
	if value == nil {
		return deleted(key, last), m.cfg.Store.Delete(ctx, key, last)
	}
	r = table.Record{Key: key, Value: value}
	r.Revision, err = m.cfg.Store.Put(ctx, key, value, last)
	return r, err
}

// deleteAbsent is for a key that the table does not seem to have. A read may be old, so that decides
// nothing. If the table deletes the key at revision 0, it has nothing there.
func (m *Member) deleteAbsent(ctx context.Context, key string, last uint64) (table.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease/6)
	defer cancel()
	return deleted(key, last), m.cfg.Store.Delete(ctx, key, 0)
}

// deleted is the record of a deletion. Its revision is not known, but it is higher than last.
func deleted(key string, last uint64) table.Record {
	return table.Record{Key: key, Revision: last + 1, Deleted: true}
}

// get reads a record.
func (m *Member) get(ctx context.Context, key string) (table.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease/6)
	defer cancel()
	return m.cfg.Store.Get(ctx, key)
}

// is tells whether r has that value.
func is(r table.Record, value []byte) bool { return !r.Deleted && bytes.Equal(r.Value, value) }
