package partition

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/memory"
)

func TestGate(t *testing.T) {
	require.False(t, (*Gate)(nil).enter())
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		require.True(t, g.enter())
		require.True(t, g.enter())
		begun := time.Now()
		require.False(t, g.enter())
		require.Equal(t, gateTime, time.Since(begun))
		go func() { time.Sleep(gateTime / 2); g.leave() }()
		begun = time.Now()
		require.True(t, g.enter())
		require.Equal(t, gateTime/2, time.Since(begun))
	})
}

// A log that does not answer holds up the others for a moment only.
func TestOneLogDoesNotAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.Gate = NewGate(1)
		b.open()
		other := &bench{Assertions: b.Assertions, t: b.t, cfg: b.cfg, disk: new(memory.Disk)}
		other.cfg.Patience.Answer = time.Minute
		other.open()
		ask := func(fault memory.Fault) {
			other.log.SetFault(func([]byte) memory.Fault { return fault })
			go func() {
				_ = other.p.Do(b.t.Context(), &Call{Asks: []Ask{{Kind: frame.Set, Key: []byte("x"), In: 1e15}}})
			}()
			synctest.Wait()
		}
		ask(memory.Silence)
		begun := time.Now()
		b.set("a", "", time.Hour)
		b.Equal(gateTime, time.Since(begun))
		time.Sleep(time.Hour)
		ask(memory.Drop) // it is in doubt, and asks again and again
		for range 100 {
			begun = time.Now()
			b.set("a", "", time.Hour)
			b.Zero(time.Since(begun))
			time.Sleep(time.Second)
		}
		b.shut()
		other.p.kill(other.log)
	})
}
