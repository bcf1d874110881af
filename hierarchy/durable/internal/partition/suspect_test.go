package partition

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// killed opens the partition and has the process die in the handler of each key in killers, until
// it does not die any more. It returns the attempts of the killers and the number of deaths.
func killed(b *bench, killers map[string]bool) (attempts []uint32, deaths int) {
	for {
		died := false
		b.handle = func(_ context.Context, f core.Firing) error {
			if killers[f.Key] && !died {
				attempts = append(attempts, f.Attempt)
				died = true
				b.log.Close() // nothing is written any more
				go b.p.writer.abandon()
				<-b.p.writer.stopped
			}
			return nil
		}
		b.open()
		b.mock.Add(0)
		for !died && b.p.core.Numbers().Running == 0 {
			if _, ok := b.mock.AddNext(); !ok {
				return attempts, deaths
			}
		}
		if !died {
			return attempts, deaths
		}
		deaths++
		b.crash()
	}
}

// A handler that kills the process is counted, from the second time on, and its timer dies. The
// others are handled.
func TestHandlerThatKillsTheProcess(t *testing.T) {
	b := newBench(t)
	b.open()
	for i := range 5 {
		b.set(fmt.Sprint(i), "", 0)
	}
	b.shut()
	attempts, deaths := killed(b, map[string]bool{"2": true})
	// The first death is not counted: the end of the log was clean, and no attempt was written.
	b.Equal([]uint32{1, 1, 2, 3}, attempts)
	b.Equal(4, deaths)
	b.Equal(map[string]string{"2": ""}, b.keys(true))
	b.Empty(b.keys(false))
	others := map[string]bool{}
	for _, k := range b.took() {
		others[k] = true
	}
	b.Len(others, 5)
}

// After a death, what is due is not called before its attempt is in the log.
func TestAttemptsAreWrittenAfterADeath(t *testing.T) {
	b := newBench(t)
	b.open()
	for i := range 3 {
		b.set(fmt.Sprint(i), "", 0)
	}
	b.crash()
	b.handle = func(_ context.Context, f core.Firing) error {
		data, err := b.disk.Open().Get(t.Context(), b.number())
		b.NoError(err)
		parsed, err := frame.Parse(data)
		b.NoError(err)
		found := false
		for op, err := range parsed.Ops() {
			b.NoError(err)
			found = found || op.Kind == frame.Begin && string(op.Key) == f.Key && op.Attempt == f.Attempt
		}
		b.True(found)
		return nil
	}
	b.open()
	b.mock.Add(0)
	b.Len(b.took(), 3)
	b.Empty(b.keys(false))
}

// The same on a real clock, where attempts run at once.
func TestAttemptsAfterADeathRunTogether(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	b.cfg.Crew = NewCrew(2)
	b.open()
	b.p.firer.halt()
	for i := range 50 {
		b.set(fmt.Sprint(i), "", 0)
	}
	b.crash()
	b.open()
	b.Eventually(func() bool { return len(b.keys(false)) == 0 }, time.Minute, time.Millisecond)
	b.Len(b.took(), 50)
	b.shut()
}

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
