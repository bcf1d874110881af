package partition

import (
	"bytes"
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// slowMarks is a log that answers for no mark but the first two.
type slowMarks struct {
	storage.Log
	marks int
}

func (l *slowMarks) SetMark(ctx context.Context, m storage.Mark) error {
	if l.marks++; l.marks <= 2 {
		return l.Log.SetMark(ctx, m)
	}
	<-ctx.Done()
	return ctx.Err()
}

// A partition may end while its mark is on its way. That is no news for operators: the next owner writes
// the mark. One that the log does not answer for is logged.
func TestMarkThatIsCutOff(t *testing.T) {
	for _, given := range []bool{true, false} {
		inBubble(t, func(b *bench) {
			var logged bytes.Buffer
			b.cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
			b.log = b.disk.Open()
			p, err := Open(b.t.Context(), b.cfg.with(&slowMarks{Log: b.log}))
			b.NoError(err)
			b.p = p
			b.set("a", "", time.Hour)
			time.Sleep(p.cfg.MarkEvery + markTime/2)
			if given {
				b.NoError(p.HandOver(b.t.Context()))
			}
			time.Sleep(markTime)
			synctest.Wait()
			b.Equal(given, logged.Len() == 0, &logged)
			p.Abandon()
			b.p = nil
		})
	}
}

// noMarks is a log whose marks are refused, but for the first two.
type noMarks struct{ slowMarks }

func (l *noMarks) SetMark(ctx context.Context, m storage.Mark) error {
	if l.marks++; l.marks <= 2 {
		return l.Log.SetMark(ctx, m)
	}
	return storage.ErrDamaged
}

// Marks that stay away, as when their stream was deleted, are logged once in a minute and not once in a second.
func TestMarksThatStayAway(t *testing.T) {
	inBubble(t, func(b *bench) {
		var logged bytes.Buffer
		b.cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		b.log = b.disk.Open()
		p, err := Open(b.t.Context(), b.cfg.with(&noMarks{slowMarks{Log: b.log}}))
		b.NoError(err)
		b.p = p
		for range 150 {
			b.set("a", "", time.Hour)
			time.Sleep(p.cfg.MarkEvery)
		}
		synctest.Wait()
		b.Equal(3, bytes.Count(logged.Bytes(), []byte("the mark was not written")), &logged)
		p.Abandon()
		b.p = nil
	})
}

// A mark that was not written is written later, also if no frame follows. That is logged once.
func TestMarkThatFails(t *testing.T) {
	inBubble(t, func(b *bench) {
		var logged bytes.Buffer
		b.cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		var fails atomic.Bool
		b.log = b.disk.Open()
		p, err := Open(b.t.Context(), b.cfg.with(&failingMarks{Log: b.log, why: func() error {
			if fails.Load() {
				return errDisk
			}
			return nil
		}}))
		b.NoError(err)
		b.p = p
		fails.Store(true)
		b.set("a", "", time.Hour)
		time.Sleep(4 * p.cfg.MarkEvery)
		fails.Store(false)
		time.Sleep(p.cfg.MarkEvery)
		synctest.Wait()
		mark, err := b.log.Mark(b.t.Context())
		b.NoError(err)
		b.Equal(p.Last(), mark.Number)
		b.Equal(1, bytes.Count(logged.Bytes(), []byte("the mark was not written")))
	})
}

// A leader that was just elected may not know of the marks yet. That seems to be damage, and passes. Marks
// that stay away are retried no longer than a while, as being idle costs nothing.
func TestMarksThatSeemDamaged(t *testing.T) {
	for _, away := range []time.Duration{2500 * time.Millisecond, time.Hour} {
		inBubble(t, func(b *bench) {
			var begun time.Time
			tries := 0
			b.log = b.disk.Open()
			p, err := Open(b.t.Context(), b.cfg.with(&failingMarks{Log: b.log, why: func() error {
				if begun.IsZero() || time.Since(begun) >= away {
					return nil
				}
				tries++
				return storage.ErrDamaged
			}}))
			b.NoError(err)
			b.p = p
			begun = time.Now()
			b.set("a", "", time.Hour)
			time.Sleep(time.Minute)
			synctest.Wait()
			mark, err := b.log.Mark(b.t.Context())
			b.NoError(err)
			b.Equal(away < time.Minute, p.Last() == mark.Number)
			b.LessOrEqual(tries, int(markBehind/p.cfg.MarkEvery)+1)
			begun = time.Time{}
		})
	}
}

// What seemed to be damaged once, and was written since, is given as much time again.
func TestMarksThatSeemDamagedTwice(t *testing.T) {
	inBubble(t, func(b *bench) {
		var begun time.Time
		away := func() error {
			if time.Since(begun) < 2*time.Second {
				return storage.ErrDamaged
			}
			return nil
		}
		b.log = b.disk.Open()
		p, err := Open(b.t.Context(), b.cfg.with(&failingMarks{Log: b.log, why: away}))
		b.NoError(err)
		b.p = p
		begun = time.Now()
		b.set("a", "", time.Hour)
		time.Sleep(time.Minute)
		b.set("b", "", time.Hour)
		begun = time.Now()
		b.shut()
		b.GreaterOrEqual(time.Since(begun), 2*time.Second)
	})
}

// An owner that has lost its log leaves the mark to the next one. That is no trouble with the marks.
func TestAbandonIsNoTroubleWithMarks(t *testing.T) {
	inBubble(t, func(b *bench) {
		var logged bytes.Buffer
		b.cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		b.open()
		b.set("a", "", time.Hour)
		b.p.Abandon()
		b.p = nil
		b.NotContains(logged.String(), "mark")
	})
}
