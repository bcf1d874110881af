package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Claim takes the claim of partition p for this member, if it is free. It returns nil if this member has the claim,
// ErrNotFree if another member has it, and ErrLost if the lease is lost for good. After any other error, which is
// possible only when ctx is done, the result is unknown: this member may still get the claim, and View shows the claim
// then. After a Give whose result is unknown, Claim takes the partition back, if this member still has the claim.
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
		return m.write(ctx, p, m.id, c.revision, ErrNotFree)
	})
}

// Give hands this member's claim of partition p to another member, or to nobody. Owns is false as soon as Give is
// called. Give returns nil if the claim was given, and ErrNotMine if this member did not have the claim. After any
// other error, which is possible only when ctx is done, the result is unknown. Then call Give again, for any member, or
// call Claim.
func (m *Member) Give(ctx context.Context, p int, to ID) error {
	return m.inTurn(ctx, p, func(ctx context.Context) error {
		m.mu.Lock()
		c := &m.known.claims[p]
		if c.holder != m.id || to == m.id {
			holder := c.holder
			m.mu.Unlock()
			return fmt.Errorf("%w: partition %d of %v can't be given to %v", ErrNotMine, p, holder, to)
		}
		// The other member may see the record before the answer arrives here.
		c.giving = true
		m.mine[p].Store(false)
		last := c.revision
		m.mu.Unlock()
		return m.write(ctx, p, to, last, ErrNotMine)
	})
}

// inTurn calls f once no other Claim or Give of p is in progress. The context of f ends with the lease.
func (m *Member) inTurn(ctx context.Context, p int, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	select {
	case m.turns[p] <- struct{}{}:
		defer func() { <-m.turns[p] }()
	case <-ctx.Done():
	}
	if m.ctx.Err() != nil {
		return ErrLost
	}
	err := ctx.Err()
	if err == nil {
		err = f(ctx)
	}
	if err != nil && m.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// write writes the claim of p. If another member has the claim afterwards, it returns taken.
func (m *Member) write(ctx context.Context, p int, holder ID, last uint64, taken error) error {
	r, err := m.change(ctx, claimKey(p), encodeClaim(holder), last)
	if err != nil {
		return fmt.Errorf("writing the claim of partition %d: %w", p, err)
	}
	m.apply(r)
	now, err := decodeClaim(r)
	if errors.Is(err, errVersion) {
		return err
	}
	if now != holder {
		return fmt.Errorf("%w: partition %d belongs to %v", taken, p, now)
	}
	return nil
}

// change puts value at key, provided that the key's revision is last. If value is nil, it deletes the key instead. It
// returns the record that the key has afterwards: this one, or one that another member has written. If a response is
// lost, change reads the record and retries until the result is certain. It fails only when ctx is done. The result is
// unknown then.
func (m *Member) change(ctx context.Context, key string, value []byte, last uint64) (storage.Record, error) {
	retry := wait.Backoff{First: 5 * time.Millisecond, Last: m.cfg.Lease / 40}
	for {
		r, err := m.try(ctx, key, value, last)
		if err == nil {
			return r, nil
		}
		if !m.cfg.sleep(ctx, retry.Next()) {
			return r, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// try sends the change once. If the response leaves the result open, it reads the record once.
func (m *Member) try(ctx context.Context, key string, value []byte, last uint64) (storage.Record, error) {
	r, err := m.send(ctx, key, value, last)
	if err == nil {
		return r, nil
	}
	refused := errors.Is(err, storage.ErrRefused)
	if refused && key == memberKey(m.id) {
		m.lease.until.Store(0) // the lease does not count until it is certain what the refusal means
	}
	there, missing := m.get(ctx, key)
	switch {
	case missing != nil && !errors.Is(missing, storage.ErrAbsent):
		return r, err
	case there.Revision > last:
		return there, nil
	case refused && there.Revision == 0 && last > 0:
		// The read did not find the key, but it may be stale, so it decides nothing. If the table accepts a deletion of
		// the key at revision 0, it has no such record.
		_, err = m.send(ctx, key, nil, 0)
		return deleted(key, last), err
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

// deleted returns the record of a deletion. Its true revision is unknown, but higher than last.
func deleted(key string, last uint64) storage.Record {
	return storage.Record{Key: key, Revision: last + 1, Deleted: true}
}

// get reads a record.
func (m *Member) get(ctx context.Context, key string) (storage.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease/6)
	defer cancel()
	return m.cfg.Store.Get(ctx, key)
}
