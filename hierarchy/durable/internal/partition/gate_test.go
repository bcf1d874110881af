package partition

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := newWaiter(new(queue))
		require.False(t, (*Gate)(nil).enter(one, 0))
		g := NewGate(2)
		require.True(t, g.enter(one, 0))
		require.True(t, g.enter(one, 0))
		begun := time.Now()
		require.False(t, g.enter(one, 0))
		require.Equal(t, gateTime, time.Since(begun))
		go func() { time.Sleep(gateTime / 2); g.leave(0) }()
		begun = time.Now()
		require.True(t, g.enter(one, 0))
		require.Equal(t, gateTime/2, time.Since(begun))
		synctest.Wait()
		require.Empty(t, g.waiting)
	})
}

// inTurn has partitions with so many items wait for the one place, and returns the order in which they get it.
func inTurn(t *testing.T, g *Gate, items ...int) (order []int) {
	for i, n := range items {
		one := newWaiter(&queue{items: make([]item, n/2)})
		go func() {
			if g.enter(one, n-n/2) {
				order = append(order, i)
				g.leave(0)
			}
		}()
		synctest.Wait()
	}
	g.leave(0)
	synctest.Wait()
	return order
}

// Who has the longest queue is next. Among equals, who came first.
func TestGateIsForWhoHasMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		require.True(t, g.enter(newWaiter(new(queue)), 0))
		require.Equal(t, []int{3, 1, 4, 0, 2}, inTurn(t, g, 10, 20, 10, 30, 20))
		require.Zero(t, g.taken)
	})
}

// A partition with little to write is not passed over for ever.
func TestGateHasPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		wait := func(n int, done *bool) {
			one := newWaiter(&queue{items: make([]item, n)})
			go func() { *done = g.enter(one, 0) }()
			synctest.Wait()
		}
		var first, little bool
		wait(1, &first)
		require.True(t, first)
		wait(1, &little)
		for n := 0; !little; n++ {
			require.LessOrEqual(t, n, 4*patience)
			var much bool
			wait(5, &much)
			g.leave(0)
			synctest.Wait()
			require.NotEqual(t, little, much)
			require.Equal(t, n == 4*patience, little)
		}
		g.leave(0)
		g.leave(0)
		synctest.Wait()
	})
}

// A log that does not answer holds up the others for a moment only.
func TestOneLogDoesNotAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.Gate = NewGate(1)
		b.open()
		other := &bench{Assertions: b.Assertions, t: b.t, cfg: b.cfg, disk: new(memlog.Disk)}
		other.cfg.Patience.Answer = time.Minute
		other.open()
		ask := func(fault memlog.Fault) {
			other.log.SetFault(func([]byte) memlog.Fault { return fault })
			go func() {
				_ = other.p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("x"), In: 1e15}}})
			}()
			synctest.Wait()
		}
		ask(memlog.Silence)
		begun := time.Now()
		b.set("a", "", time.Hour)
		b.Equal(gateTime, time.Since(begun))
		time.Sleep(time.Hour)
		ask(memlog.Drop) // it is in doubt, and asks again and again
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
