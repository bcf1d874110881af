package member

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Claim takes the claim of partition p for this member, if it is free. It returns nil if the claim is this member's,
// ErrNotFree if another member has it, and ErrLost. After any other error, which comes when ctx is done, the result is
// unknown: the claim may still become this member's, and View shows it then. After a Give whose result is unknown,
// Claim takes the partition back if it still is this member's.
func (m *Member) Claim(ctx context.Context, p int) error {
	return m.inTurn(ctx, p, func(ctx context.Context) error {
		m.mu.Lock()
		c := m.known.claims[p]
		free := m.known.free(c)
		m.mu.Unlock()
		if c.holder == m.id && !c.giving {
			return nil
		}
		if !free && c.holder != m.id {
			return fmt.Errorf("%w: partition %d belongs to %v", ErrNotFree, p, c.holder)
		}
		holder, err := m.write(ctx, p, m.id, c.revision)
		if err == nil && holder != m.id {
			err = fmt.Errorf("%w: partition %d belongs to %v", ErrNotFree, p, holder)
		}
		return err
	})
}

// Give hands this member's claim of partition p to another member, or to nobody. Owns is false as soon as it is
// called. It returns nil if the claim was given, and ErrNotMine if it was not this member's. After any other error,
// which comes when ctx is done, the result is unknown: call Give again, for any member, or Claim.
func (m *Member) Give(ctx context.Context, p int, to ID) error {
	return m.inTurn(ctx, p, func(ctx context.Context) error {
		m.mu.Lock()
		c := &m.known.claims[p]
		if c.holder != m.id || to == m.id {
			holder := c.holder
			m.mu.Unlock()
			return fmt.Errorf("%w: partition %d of %v can't be given to %v", ErrNotMine, p, holder, to)
		}
		// The other may see the record before the answer comes.
		c.giving = true
		m.mine[p].Store(false)
		last := c.revision
		m.mu.Unlock()
		holder, err := m.write(ctx, p, to, last)
		if err == nil && holder != to {
			err = fmt.Errorf("%w: partition %d belongs to %v", ErrNotMine, p, holder)
		}
		return err
	})
}

// inTurn calls f once no other Claim or Give of p is in progress. Its context ends with the lease.
func (m *Member) inTurn(ctx context.Context, p int, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	select {
	case m.turns[p] <- struct{}{}:
		defer func() { <-m.turns[p] }()
	case <-ctx.Done():
	}
	if isClosed(m.lost) {
		return ErrLost
	}
	err := ctx.Err()
	if err == nil {
		err = f(ctx)
	}
	if err != nil && isClosed(m.lost) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// write writes the claim of p, and returns who holds it afterwards.
func (m *Member) write(ctx context.Context, p int, holder ID, last uint64) (ID, error) {
	r, err := m.change(ctx, claimKey(p), encodeClaim(holder), last, nil)
	if err != nil {
		return 0, fmt.Errorf("writing the claim of partition %d: %w", p, err)
	}
	m.apply(r)
	return holderOf(r)
}

func holderOf(r storage.Record) (ID, error) {
	if r.Deleted {
		return 0, nil
	}
	holder, err := decodeClaim(r.Key, r.Value)
	if errors.Is(err, errVersion) {
		return 0, err
	}
	return holder, nil // a record that is no claim is nobody's
}

// change puts value at key, or deletes key if value is nil, if its revision is last. It returns the record that the
// key has afterwards: this one, or another member's. If a response is lost, it reads the record and retries, until
// either is certain. It fails only when ctx is done, and the result is unknown then. refused, if not nil, is called
// whenever the table refuses the change.
func (m *Member) change(ctx context.Context, key string, value []byte, last uint64, refused func()) (storage.Record, error) {
	retry := wait.Backoff{First: 5 * time.Millisecond, Last: longestPause(m.cfg.Lease)}
	for {
		r, err := m.try(ctx, key, value, last, refused)
		if err == nil {
			return r, nil
		}
		if !retry.Wait(ctx) {
			return r, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// try sends the change once. If the response does not decide it, it reads the record once.
func (m *Member) try(ctx context.Context, key string, value []byte, last uint64, refused func()) (storage.Record, error) {
	r, err := m.send(ctx, key, value, last)
	if err == nil {
		return r, nil
	}
	no := errors.Is(err, storage.ErrRefused)
	if no && refused != nil {
		refused()
	}
	there, missing := m.get(ctx, key)
	switch {
	case missing != nil && !errors.Is(missing, storage.ErrAbsent):
		return r, err
	case there.Revision > last:
		return there, nil
	case no && there.Revision == 0 && last > 0:
		return m.deleteAbsent(ctx, key, last)
	}
	return r, err
}

// send sends one copy of a change.
func (m *Member) send(ctx context.Context, key string, value []byte, last uint64) (r storage.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease/6)
	defer cancel()
	if value == nil {
		return deleted(key, last), m.cfg.Store.Delete(ctx, key, last)
	}
	r = storage.Record{Key: key, Value: value}
	r.Revision, err = m.cfg.Store.Put(ctx, key, value, last)
	return r, err
}

// deleteAbsent handles a key that a read did not find. The read may be stale, so it decides nothing. If the table
// deletes the key at revision 0, it has no such record.
func (m *Member) deleteAbsent(ctx context.Context, key string, last uint64) (storage.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease/6)
	defer cancel()
	return deleted(key, last), m.cfg.Store.Delete(ctx, key, 0)
}

// deleted returns the record of a deletion. Its revision is unknown, but higher than last.
func deleted(key string, last uint64) storage.Record {
	return storage.Record{Key: key, Revision: last + 1, Deleted: true}
}

// get reads a record.
func (m *Member) get(ctx context.Context, key string) (storage.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease/6)
	defer cancel()
	return m.cfg.Store.Get(ctx, key)
}

// is reports whether r has that value.
func is(r storage.Record, value []byte) bool { return !r.Deleted && bytes.Equal(r.Value, value) }
