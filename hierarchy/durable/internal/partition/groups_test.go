package partition

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A duration counts from Start, by the owner's time.
func TestDurationsCountFromStart(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.GiveUp = time.Hour
		hold, held := b.openHeld()
		go b.set("a", "1", time.Hour)
		<-held
		set, move := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("b"), In: time.Hour}}}, &core.Call{Ops: []core.Op{{Kind: frame.Move, Key: []byte("a"), In: 2 * time.Hour}}}
		setStarted := b.start(set)
		moveStarted := b.start(move)
		time.Sleep(time.Minute)
		hold <- true
		b.NoError(setStarted.Wait(b.t.Context()))
		b.NoError(moveStarted.Wait(b.t.Context()))
		_, left := b.get("b")
		b.Equal(59, int(left.Round(time.Second).Minutes()))
		_, left = b.get("a")
		b.Equal(119, int(left.Round(time.Second).Minutes()))
		b.shut()
	})
}
