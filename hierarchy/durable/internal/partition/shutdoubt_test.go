package partition

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

var errDisk = errors.New("the disk is full")

// openFull opens the partition on a disk that is full. The calls of two frames wait.
func (b *bench) openFull() (inFrame, queued chan error) {
	b.cfg.Cause = func() error { return errDisk }
	b.open()
	b.disk.SetFull(true)
	inFrame, queued = make(chan error, 1), make(chan error, 1)
	ask := func(k string, errs chan error) {
		errs <- b.p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte(k)}}})
	}
	go ask("in frame", inFrame)
	synctest.Wait()
	go ask("queued", queued)
	synctest.Wait()
	return inFrame, queued
}

// Shutdown ends soon after its context while the log does not answer, and says that it did not all.
func TestShutdownWhileTheLogDoesNotAnswer(t *testing.T) {
	const hour, day, endTime = time.Hour, 24 * time.Hour, 7 * time.Second
	for _, c := range []struct {
		deadline, cancel, took time.Duration
		want                   error
	}{
		{300 * time.Millisecond, hour, 300*time.Millisecond + closeTime, context.DeadlineExceeded},
		{2 * time.Minute, day, 2*time.Minute + closeTime, context.DeadlineExceeded},
		{hour, time.Second, time.Second + closeTime, context.Canceled},
		{0, time.Second, time.Second + closeTime, context.Canceled},
		{0, hour, endTime, ErrUnavailable},
	} {
		inBubble(t, func(b *bench) {
			b.cfg.EndTime = endTime
			inFrame, queued := b.openFull()
			ctx, cancel := context.WithCancel(b.t.Context())
			if c.deadline > 0 {
				ctx, cancel = context.WithTimeout(b.t.Context(), c.deadline)
			}
			defer cancel()
			defer time.AfterFunc(c.cancel, cancel).Stop()
			begun := time.Now()
			err := b.p.Shutdown(ctx)
			b.Equal(c.took, time.Since(begun))
			b.ErrorIs(err, c.want)
			b.ErrorIs(err, errDisk)
			b.Error(<-inFrame)
			b.Error(<-queued)
			b.p = nil
		})
	}
}

// Close waits shortly for a log that does not answer, and ends a Shutdown that has more patience.
func TestCloseWhileTheLogDoesNotAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.openFull()
		begun := time.Now()
		patient := make(chan error)
		go func() {
			ctx, cancel := context.WithTimeout(b.t.Context(), time.Hour)
			defer cancel()
			patient <- b.p.Shutdown(ctx)
		}()
		synctest.Wait()
		b.p.Close()
		b.ErrorIs(<-patient, ErrUnavailable)
		b.Equal(closeTime, time.Since(begun))
		b.p = nil
	})
}

// silentMarks is a log that does not answer for marks, once it is on.
type silentMarks struct {
	storage.Log
	on bool
}

func (l *silentMarks) SetMark(ctx context.Context, m storage.Mark) error {
	if !l.on {
		return l.Log.SetMark(ctx, m)
	}
	<-ctx.Done()
	return ctx.Err()
}

// failingMarks is a log whose marks can't be set while that says why.
type failingMarks struct {
	storage.Log
	why func() error
}

func (l *failingMarks) SetMark(ctx context.Context, m storage.Mark) error {
	if err := l.why(); err != nil {
		return err
	}
	return l.Log.SetMark(ctx, m)
}

// Shutdown sets the mark again as long as marks have no leader, and for a while if they seem to be damaged: a
// leader that was just elected may not know of their stream.
func TestMarkOfShutdownIsSetAgain(t *testing.T) {
	for _, c := range []struct {
		away        time.Duration
		because     error
		least, most time.Duration
		want        error
	}{
		{6 * time.Second, errDisk, 6 * time.Second, 7 * time.Second, nil},
		{time.Hour, errDisk, 7 * time.Second, 7 * time.Second, errDisk},
		{2 * time.Second, storage.ErrDamaged, 2 * time.Second, 3 * time.Second, nil},
		{time.Hour, storage.ErrDamaged, markBehind, markBehind + time.Second, storage.ErrDamaged},
	} {
		inBubble(t, func(b *bench) {
			b.cfg.EndTime = 7 * time.Second
			log := &failingMarks{Log: b.disk.Open(), why: func() error { return nil }}
			p, err := Open(b.t.Context(), b.cfg.with(log))
			b.NoError(err)
			b.NoError(p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a")}}}))
			begun := time.Now()
			log.why = func() error {
				if time.Since(begun) < c.away {
					return c.because
				}
				return nil
			}
			err = p.Shutdown(b.t.Context())
			b.GreaterOrEqual(time.Since(begun), c.least)
			b.LessOrEqual(time.Since(begun), c.most)
			if c.want == nil {
				b.NoError(err)
				return
			}
			b.ErrorContains(err, c.want.Error())
		})
	}
}

// Marks that were damaged for long before Shutdown do not hold it up.
func TestShutdownWithDamagedMarks(t *testing.T) {
	inBubble(t, func(b *bench) {
		log := &noMarks{slowMarks{Log: b.disk.Open()}}
		p, err := Open(b.t.Context(), b.cfg.with(log))
		b.NoError(err)
		b.NoError(p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a")}}}))
		time.Sleep(time.Minute)
		begun := time.Now()
		b.ErrorContains(p.Shutdown(b.t.Context()), storage.ErrDamaged.Error())
		b.Zero(time.Since(begun))
	})
}

// A mark that can't be written holds up Close no longer than the log does.
func TestCloseWhileMarksAreNotAnswered(t *testing.T) {
	inBubble(t, func(b *bench) {
		log := &silentMarks{Log: b.disk.Open()}
		p, err := Open(b.t.Context(), b.cfg.with(log))
		b.NoError(err)
		log.on = true
		b.NoError(p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a")}}}))
		time.Sleep(b.cfg.MarkEvery + 2*time.Second) // a mark is under way
		begun := time.Now()
		ctx, cancel := context.WithCancel(b.t.Context())
		cancel()
		b.ErrorIs(p.Shutdown(ctx), context.Canceled)
		b.Equal(closeTime, time.Since(begun))
	})
}

// What Shutdown gives up says why, and nothing of contexts: those of the callers are fine.
func TestCallsThatShutdownGivesUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		inFrame, queued := b.openFull()
		b.p.Close()
		b.p = nil
		doubt, refusal := <-inFrame, <-queued
		b.ErrorIs(doubt, ErrUnavailable)
		b.ErrorIs(refusal, core.ErrClosed) // it was never sent: it is not committed
		b.NotErrorIs(refusal, ErrUnavailable)
		for _, err := range []error{doubt, refusal} {
			b.ErrorIs(err, errDisk)
			b.NotErrorIs(err, context.Canceled)
			b.NotErrorIs(err, context.DeadlineExceeded)
			b.NotContains(err.Error(), "context")
		}
	})
}

// silent is a log that takes nothing and answers nothing, like a disk that hangs.
type silent struct{ storage.Log }

func (silent) Append(ctx context.Context, _ uint64, _ []byte) error { <-ctx.Done(); return ctx.Err() }
func (silent) Get(ctx context.Context, _ uint64) ([]byte, error)    { <-ctx.Done(); return nil, ctx.Err() }

// When a log falls silent, that is noticed when the first answer is late, counted from sending. No handler begins
// then. Calls end a minute after the frame was sent, and further ones at once.
func TestDoubtCountsFromSending(t *testing.T) {
	inBubble(t, func(b *bench) {
		const answer = 5 * time.Second
		b.cfg.Patience.Answer = answer
		var told []time.Time
		b.cfg.Doubted = func(error) { told = append(told, time.Now()) }
		b.open()
		b.set("later", "", answer+time.Millisecond)
		b.p.cfg.Log = silent{b.log}
		sent := time.Now()
		_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("a")})
		b.ErrorIs(err, ErrUnavailable)
		b.Equal(time.Minute, time.Since(sent))
		b.Equal([]time.Time{sent.Add(answer)}, told)
		b.Empty(b.took())
		again := time.Now()
		_, err = b.try(core.Op{Kind: frame.Set, Key: []byte("b")})
		b.ErrorIs(err, ErrUnavailable)
		b.Zero(time.Since(again))
		b.p.Close()
		b.Equal(closeTime, time.Since(again))
		b.p = nil
	})
}
