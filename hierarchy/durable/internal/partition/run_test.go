package partition

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// run is what matters of a run of a schedule.
type run struct {
	due    time.Duration // since the beginning of the test
	missed uint32
}

// runs returns what has fired since the last call, in units of time.
func (b *bench) runs(unit time.Duration) (all []run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.fired {
		all = append(all, run{(time.Duration(f.Due) - 1000*time.Hour) / unit, f.Missed})
	}
	b.fired = nil
	return all
}

// A timer with a schedule is one timer, which fires again and again, each time under another ID.
func TestSchedule(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxPending = 1
	b.open()
	b.schedule("a", "v", "* * * * *")
	b.mock.Add(3*time.Minute + 30*time.Second)
	ids := make(map[frame.ID]bool)
	for _, f := range b.fired {
		ids[f.ID] = true
		b.Equal("v", f.Value)
		b.Equal("* * * * *", f.Schedule)
		b.EqualValues(1, f.Attempt)
	}
	b.Len(ids, 3)
	b.Equal([]run{{1, 0}, {2, 0}, {3, 0}}, b.runs(time.Minute))
	_, left := b.get("a")
	b.Equal(30*time.Second, left)
	n, err := b.p.Len()
	b.NoError(err)
	b.Equal(1, n)
	_, err = b.try(core.Op{Kind: frame.Set, Key: []byte("b")})
	b.ErrorIs(err, core.ErrFull)
	b.reopen()
	b.mock.Add(time.Minute)
	b.Equal([]run{{4, 0}}, b.runs(time.Minute))
}

// Set ends the schedule, and so does Remove. Move moves the pending run, from which the schedule goes on.
func TestChangesOfATimerWithASchedule(t *testing.T) {
	b := newBench(t)
	b.open()
	b.schedule("set", "", "@every 10m")
	b.set("set", "", time.Minute)
	b.schedule("remove", "", "@every 10m")
	b.remove("remove")
	b.mock.Add(time.Hour)
	b.Equal([]string{"set"}, b.took())

	b.schedule("move", "", "0 * * * *") // at full hours
	b.True(b.move("move", 90*time.Minute))
	b.mock.Add(2*time.Hour + 30*time.Minute)
	b.Equal([]run{{150, 0}, {180, 0}}, b.runs(time.Minute))
	b.True(b.move("move", time.Second)) // it runs now, and at the next hour still
	b.reopen()
	b.mock.Add(time.Hour)
	b.Equal([]run{{210*60 + 1, 0}, {240 * 60, 0}}, b.runs(time.Second))
	b.schedule("move", "", "30 * * * *") // another schedule
	b.mock.Add(time.Hour)
	b.Equal([]run{{330, 0}}, b.runs(time.Minute))
}

// A schedule that can't be read, or has no run, is refused, and nothing changes.
func TestSchedulesThatAreRefused(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "old", time.Hour)
	for _, text := range []string{"every now and then", "0 0 30 2 *"} {
		_, err := b.try(core.Op{Kind: frame.SetAt, Key: []byte("a"), Schedule: []byte(text)})
		b.ErrorIs(err, core.ErrSchedule)
		b.ErrorIs(err, core.ErrArgument)
		c := &core.Call{Request: core.RequestID{Caller: 1, Serial: 1}, Parts: []core.Part{{End: 1}, {End: 2}}, Ops: []core.Op{
			{Kind: frame.SetAt, Key: []byte("a"), Schedule: []byte(text)}, {Kind: frame.Set, Key: []byte("b"), In: time.Hour}}}
		b.NoError(b.p.Do(t.Context(), c))
		b.ErrorIs(c.Parts[0].Err, core.ErrSchedule)
		b.NoError(c.Parts[1].Err)
		b.Equal([]bool{false, true}, c.Took)
	}
	b.Equal(map[string]string{"a": "old", "b": ""}, b.keys(false))
}

// What nobody was there to begin.
func TestMissedRuns(t *testing.T) {
	for rule, want := range map[string][]run{
		"":            {{6, 5}, {7, 0}},
		"MISSED=once": {{6, 5}, {7, 0}},
		"MISSED=skip": {{7, 0}},
		"MISSED=all":  {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}},
	} {
		for _, text := range []string{"* * * * *", "@every 1m"} {
			for _, crash := range []bool{false, true} {
				b := newBench(t)
				b.open()
				b.schedule("a", "", rule+" "+text)
				b.end(crash)
				b.mock.Add(6*time.Minute + 30*time.Second)
				b.open()
				b.mock.Add(time.Minute)
				b.Equal(want, b.runs(time.Minute), "%s %s", rule, text)
			}
		}
	}
}

// end ends the partition, in order or not.
func (b *bench) end(crash bool) {
	if crash {
		b.crash()
	} else {
		b.shut()
	}
}

// A run that had begun, and did not end, is made again as it was, under the same ID. Those after it are missed.
func TestRunsThatWereInterrupted(t *testing.T) {
	for _, crash := range []bool{false, true} {
		for rule, want := range map[string][]run{
			"MISSED=once": {{3, 2}, {3, 2}, {8, 4}, {9, 0}},
			"MISSED=skip": {{4, 0}, {4, 0}, {9, 0}},
			"MISSED=all":  {{1, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}},
		} {
			b := newBench(t)
			b.handle = func(ctx context.Context, _ core.Firing) error {
				b.handle = nil
				if crash {
					b.log.Close() // its end does not come to the log
					b.p.writer.abandon()
					return nil
				}
				go b.p.Close()
				<-ctx.Done()
				return ctx.Err()
			}
			b.open()
			b.schedule("a", "", rule+" * * * * *")
			b.shut()
			b.mock.Add(3*time.Minute + 30*time.Second)
			b.open()
			b.mock.Add(time.Minute / 2)
			<-b.p.writer.stopped
			b.crash()
			b.mock.Add(4*time.Minute + 30*time.Second)
			b.open()
			b.mock.Add(time.Minute / 2)
			b.Equal(b.fired[0].ID, b.fired[1].ID)
			b.NotEqual(b.fired[1].ID, b.fired[2].ID)
			b.Equal(want, b.runs(time.Minute), "%s, crash %v", rule, crash)
		}
	}
}

// A run that takes longer than the period: the runs that fell due meanwhile were missed. No two overlap.
func TestLongRuns(t *testing.T) {
	for rule, want := range map[string][]run{
		"MISSED=once": {{1, 0}, {4, 2}, {5, 0}},
		"MISSED=skip": {{1, 0}, {5, 0}},
		"MISSED=all":  {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}},
	} {
		inBubble(t, func(b *bench) {
			first, running := true, 0
			b.handle = func(context.Context, core.Firing) error {
				b.Zero(running)
				running++
				if first {
					first = false
					time.Sleep(3*time.Minute + time.Second)
				}
				running--
				return nil
			}
			b.open()
			begun := time.Now()
			b.schedule("a", "", rule+" @every 1m")
			time.Sleep(5*time.Minute + time.Second)
			synctest.Wait()
			var got []run
			for _, f := range b.fired {
				got = append(got, run{time.Unix(0, f.Due).Sub(begun).Round(time.Second) / time.Minute, f.Missed})
			}
			b.Equal(want, got, rule)
			b.shut()
		})
	}
}

// A run that fails is tried again, and the runs that fall due meanwhile are missed. One that has failed for good does
// not end the schedule.
func TestRunsThatFail(t *testing.T) {
	b := newBench(t)
	b.cfg.Backoff = func(int) time.Duration { return 90 * time.Second }
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.schedule("a", "", "* * * * *")
	b.mock.Add(10 * time.Minute)
	b.Equal([]run{{60, 0}, {60, 0}, {60, 0}, {240, 2}, {240, 2}, {240, 2}, {420, 2}, {420, 2}, {420, 2}, {600, 2}}, b.runs(time.Second))
	b.Empty(b.keys(true))
	b.Equal(uint64(3), b.p.Stats().Died)
	b.reopen()
	b.handle = nil
	b.mock.Add(90 * time.Second)
	b.Equal([]run{{600, 2}, {660, 0}}, b.runs(time.Second))
}

// A schedule that has no further run ends like any timer.
func TestTheLastRun(t *testing.T) {
	for _, fails := range []bool{false, true} {
		b := newBench(t)
		b.cfg.MaxAttempts = 1
		b.handle = func(context.Context, core.Firing) error {
			if fails {
				return errHandler
			}
			return nil
		}
		b.open()
		b.schedule("a", "", "@every 2000000h") // the second run is after the end of times
		for range 2 {
			b.mock.Add(2_000_000 * time.Hour)
		}
		b.Len(b.took(), 1)
		b.Len(b.keys(true), map[bool]int{true: 1}[fails])
		b.Empty(b.keys(false))
	}
}

// An owner that can't read a schedule does not call the handler, and nothing is lost.
func TestScheduleOfALaterVersion(t *testing.T) {
	b := newBench(t)
	b.open()
	var w frame.Builder
	h := b.p.core.Head.Header
	h.Number, h.Previous = b.p.core.Head.End+1, b.p.core.Head.Checksum
	w.Start(h)
	w.Add(&frame.Op{Kind: frame.SetAt, Key: []byte("a"), Value: []byte("v"), Due: h.Time + int64(time.Minute),
		More: frame.More{Schedule: []byte("when it suits")}})
	data, _ := w.Finish()
	b.crash()
	b.NoError(b.disk.Open().Append(t.Context(), h.Number-1, data))
	b.open()
	b.mock.Add(time.Hour)
	b.Empty(b.took())
	b.NoError(b.p.All(true, func(timer state.Timer) bool {
		b.Equal("when it suits", timer.Schedule)
		b.Contains(timer.LastError, `the schedule "when it suits"`)
		return true
	}))
	b.Len(b.keys(true), 1)
}

// The wall clock is what counts, also when it is set.
func TestSchedulesFollowTheWallClock(t *testing.T) {
	b := newBench(t)
	b.open()
	b.schedule("a", "", "0 * * * *")
	b.mock.Add(90 * time.Minute)
	b.Equal([]run{{1, 0}}, b.runs(time.Hour))
	b.mock.Jump(3 * time.Hour)
	b.mock.Add(0)
	b.Equal([]run{{4, 2}}, b.runs(time.Hour))
	b.mock.Jump(-2 * time.Hour)
	b.mock.Add(2 * time.Hour)
	b.Empty(b.runs(time.Hour)) // what has run does not run again
	b.mock.Add(time.Hour)
	b.Equal([]run{{5, 0}}, b.runs(time.Hour))
}

// A year of minutes, in the process and with nobody there.
func TestAYearOfMinutes(t *testing.T) {
	b := newBench(t)
	const minutes = 365 * 24 * 60
	count := 0
	b.handle = func(_ context.Context, f core.Firing) error {
		count += 1 + int(f.Missed)
		b.fired = b.fired[:0]
		return nil
	}
	b.open()
	b.schedule("a", "", "* * * * *")
	for range 10 {
		b.mock.Add(24 * time.Hour)
	}
	b.shut()
	b.mock.Add((365 - 10) * 24 * time.Hour)
	b.open()
	b.mock.Add(0)
	b.Equal(minutes, count)
}

// A run that was due while an owner was there is not missed because that owner could not begin it any more: it is made
// by the next one. Those that fell due between the two are missed.
func TestRunsDueBeforeTheOwnerLeft(t *testing.T) {
	for _, crash := range []bool{false, true} {
		b := newBench(t)
		b.open()
		b.schedule("a", "", "MISSED=skip @every 1m")
		b.p.firer.halt() // as it leaves
		b.mock.Add(2*time.Minute + 30*time.Second)
		b.set("other", "", time.Hour)
		b.end(crash)
		b.mock.Add(2 * time.Minute)
		b.open()
		b.mock.Add(time.Minute)
		b.Equal([]run{{1, 0}, {5, 0}}, b.runs(time.Minute), "crash %v", crash)
	}
}

// An owner that was there for a moment only, and began nothing, does not make up for what was missed before it.
func TestRunsMissedBeforeAnOwnerThatBeganNothing(t *testing.T) {
	b := newBench(t)
	b.open()
	b.schedule("a", "", "MISSED=skip @every 1m")
	b.crash()
	b.mock.Add(2*time.Minute + 30*time.Second)
	b.cfg.Tenure = func() bool { return false }
	b.open()
	b.crash()
	b.cfg.Tenure = nil
	b.mock.Add(2 * time.Minute)
	b.open()
	b.mock.Add(time.Minute)
	b.Equal([]run{{5, 0}}, b.runs(time.Minute))
}
