package partition

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A timer that runs is due, also if the wall clock was set back since: SetLater replaces it, SetSooner does not, and
// nothing remains until it is due.
func TestRunningAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.limited(16)
		b.handle = func(ctx context.Context, f core.Firing) error {
			if f.Value == "" {
				<-ctx.Done()
			}
			return nil
		}
		b.open()
		b.setAt("a", "", b.mock.Now().Add(time.Second))
		b.mock.Add(time.Second)
		b.Equal(1, b.p.Stats().Running)
		b.mock.Jump(-time.Hour)
		_, left := b.get("a")
		b.Zero(left)
		b.False(b.do(core.Op{Kind: frame.Set, If: core.IfSooner, Key: []byte("a"), Value: []byte("1"), In: time.Minute}))
		b.True(b.do(core.Op{Kind: frame.Set, If: core.IfLater, Key: []byte("a"), Value: []byte("1"), In: time.Minute}))
		b.shut()
	})
}
