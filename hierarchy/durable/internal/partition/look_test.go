package partition

import (
	"context"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// An owner that looks at its log finds what somebody has taken from it.
func TestLook(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 1
	b.open()
	for range 100 {
		b.set("a", "1", time.Minute)
		b.NoError(b.p.Look(t.Context())) // also while it is trimmed
	}
	b.crash()
	b.cfg.TrimAbove = 1 << 20 // no trimming is under way from here on
	b.open()
	last := b.head().Number
	b.disk.SetGone(true)
	b.ErrorIs(b.p.Look(t.Context()), ErrDamaged)
	b.disk.SetGone(false)
	b.NoError(b.p.Look(t.Context()))
	b.NoError(b.disk.Open().Trim(t.Context(), last+1))
	b.ErrorContains(b.p.Look(t.Context()), "partition 3")
	b.ErrorContains(b.p.Look(t.Context()), "it begins at frame")
}

// What was acknowledged last is known after Break, however soon that comes: a log that is restored without
// it is damaged. Calls can be asked again of who reads the log then, but for those whose frame is in doubt.
func TestBreak(t *testing.T) {
	b := newBench(t)
	b.cfg.MarkEvery = time.Hour
	b.open()
	b.set("a", "1", time.Minute)
	backup := b.disk.Copy()
	b.set("a", "2", time.Minute)
	b.disk.SetGone(true)
	inDoubt := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte("a")}}}
	inDoubtStarted := b.start(inDoubt)
	b.Eventually(b.p.InDoubt, time.Minute, time.Millisecond)
	waits := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte("a")}}}
	waitsStarted := b.start(waits)
	b.ErrorIs(b.p.Look(t.Context()), ErrDamaged)
	b.p.Break()
	err := inDoubtStarted.Wait(t.Context())
	b.ErrorIs(err, ErrUnavailable)
	b.NotErrorIs(err, ErrNotOwner)
	b.ErrorIs(waitsStarted.Wait(t.Context()), ErrNotOwner)
	_, _, _, err = b.p.Get([]byte("a"))
	b.ErrorIs(err, ErrNotOwner)

	mark, err := b.disk.Open().Mark(t.Context())
	b.NoError(err)
	backup.Remark(mark)
	whole := b.disk
	b.disk = backup
	b.ErrorIs(b.tryOpen(), ErrDamaged)
	b.disk = whole
	b.disk.SetGone(false)
	b.open()
	b.Equal(map[string]string{"a": "2"}, b.keys(false))
}

// A log that does not answer while it is taken over is given up, and read again later.
func TestTakeoverIsGivenUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		b.set("a", "1", time.Minute)
		b.crash()
		b.cfg.GiveUp = 10 * time.Second
		var doubted error
		b.cfg.Doubted = func(err error) { doubted = err }
		b.disk.SetFull(true)
		begun := time.Now()
		err := b.tryOpen()
		b.Equal(b.cfg.GiveUp, time.Since(begun))
		b.ErrorIs(err, context.DeadlineExceeded)
		b.ErrorContains(doubted, "no space left")
		b.disk.SetFull(false)
		b.open()
		b.Equal(map[string]string{"a": "1"}, b.keys(false))
	})
}
