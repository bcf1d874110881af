package member

import (
	"context"
	"errors"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
)

// Claim takes the claim of partition p for this member, if it is free. It returns nil if the claim
// is this member's. The error is ErrNotFree if another has it, and ErrLost. Any other error, which
// comes when ctx is done, leaves it in doubt: the claim may become this member's later, which View
// tells. Claim also ends the doubt about a Give, if p still is this member's: then it stays so.
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

// Give hands this member's claim of partition p to another, or to nobody. From its beginning, Owns
// is false. It returns nil if the claim was given, and ErrNotMine if it was not this member's. Any
// other error, which comes when ctx is done, leaves it in doubt: Give again, to whom you like, or
// Claim.
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

// inTurn calls f when no other Claim or Give of p is under way. Its context ends with the lease.
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

// write writes the claim of p, and returns who has it then.
func (m *Member) write(ctx context.Context, p int, holder ID, last uint64) (ID, error) {
	r, err := m.change(ctx, claimKey(p), encodeClaim(holder), last, nil)
	if err != nil {
		return 0, fmt.Errorf("writing the claim of partition %d: %w", p, err)
	}
	m.apply(r)
	return holderOf(r)
}

func holderOf(r table.Record) (ID, error) {
	if r.Deleted {
		return 0, nil
	}
	holder, err := decodeClaim(r.Key, r.Value)
	if errors.Is(err, errVersion) {
		return 0, err
	}
	return holder, nil // what is no claim is nobody's
}
