package partition

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

func wholeOp(k string) core.Op { return core.Op{Kind: frame.Remove, Whole: true, Key: []byte(k)} }

// A handler that waits for the frame does not hold up the end of its owner, and is not called any more.
func TestEndWhileATimerIsRemoved(t *testing.T) {
	inBubble(t, func(b *bench) {
		hold, held := b.openHeld()
		b.log.Before = nil
		b.set("a", "1", time.Millisecond)
		var once sync.Once
		b.log.Before = func(uint64) { once.Do(func() { held <- true; <-hold }) }
		c := &core.Call{Ops: []core.Op{wholeOp("a")}}
		started := b.start(c)
		<-held
		time.Sleep(10 * time.Millisecond)
		p, log := b.p, b.log
		b.p = nil
		go func() { log.Close(); hold <- true }()
		p.kill(log)
		b.Error(started.Wait(b.t.Context()))
		synctest.Wait()
		b.Empty(b.took())
	})
}
