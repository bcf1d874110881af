package partition

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// However many attempts were under way when the process ended, and however long their keys, the frames that
// say that they have failed are no larger than the log takes.
func TestFailedAttemptsFitIntoSmallMessages(t *testing.T) {
	const timers = 200
	b := newBench(t)
	b.cfg.Clock = realClock()
	b.cfg.Crew = NewCrew(timers)
	b.open()
	b.p.firer.halt()
	for i := range timers {
		b.set(fmt.Sprintf("%01024d", i), "", 0)
	}
	b.crash()
	b.handle = func(ctx context.Context, _ core.Firing) error { <-ctx.Done(); return ctx.Err() }
	b.open()
	b.Eventually(func() bool { return b.p.Stats().Running == timers }, time.Minute, time.Millisecond)
	b.crash()
	b.log = b.disk.Open()
	b.log.Max = 64 << 10
	p, err := Open(t.Context(), b.cfg.with(b.log))
	b.NoError(err)
	b.p = p
	b.Len(b.keys(false), timers)
	for key := range b.keys(false) {
		timer, _, err := p.Lookup([]byte(key))
		b.NoError(err)
		b.Equal("the process ended during the attempt", timer.LastError)
	}
}
