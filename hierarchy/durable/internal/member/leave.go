package member

import (
	"context"
	"fmt"
)

// Leave says that this member is leaving: others should take its claims. It keeps its lease. It
// returns when the others can see it.
func (m *Member) Leave(ctx context.Context) error {
	m.mu.Lock()
	m.lease.leaving = true
	m.mu.Unlock()
	signal(m.hurry)
	select {
	case <-m.left:
		return nil
	case <-m.lost:
		return ErrLost
	case <-ctx.Done():
		return fmt.Errorf("saying that this process leaves: %w", ctx.Err())
	}
}

// Resign deletes the record: what this member still claims is free at once. Owns and Holds are false
// from its beginning, and all that goes on in the background ends, as with Stop. If it fails, the
// lease runs out.
func (m *Member) Resign(ctx context.Context) error {
	m.Stop()
	m.mu.Lock()
	last := m.lease.revision
	m.mu.Unlock()
	for {
		r, err := m.change(ctx, memberKey(m.id), nil, last, nil)
		if err != nil {
			return fmt.Errorf("deleting the lease: %w", err)
		}
		if r.Deleted {
			return nil
		}
		last = r.Revision // a renewal whose answer was lost
	}
}
