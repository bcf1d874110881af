package cluster

import (
	"context"
	"testing"
	"time"
)

// Open does not need a context that is longer than the lease of a process that was killed: else one that
// is begun again and again would never open.
func TestOpenBesideADeadOwner(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	a.lease, b.lease, b.behind = time.Hour, time.Hour, time.Hour
	w.NoError(a.open(t.Context()))
	a.kill()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	w.NoError(b.open(ctx))
	w.Zero(b.owns())
}
