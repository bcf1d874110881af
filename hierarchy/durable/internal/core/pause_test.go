package core

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// scheduled returns a bench with a timer that runs every second. Its first run has been due for long.
func scheduled(t *testing.T) *bench {
	b := newBench(t)
	b.now = int64(time.Hour)
	b.True(b.call(Op{Kind: frame.SetAt, Key: []byte("k"), Schedule: []byte("MISSED=all @every 1s")}))
	b.now += int64(time.Minute)
	return b
}

// due returns when the timer is due, from now on.
func (b *bench) due() time.Duration {
	t, _, ok := b.State.Find([]byte("k"))
	b.True(ok)
	return time.Duration(t.Due - b.now)
}

var pauseAndResume = []Op{{Kind: frame.Pause, Key: []byte("k")}, {Kind: frame.Resume, Key: []byte("k")}}

// reviewed returns an attempt that is about to begin after a crash, and that is written before it does.
func (b *bench) reviewed() Job {
	b.Review(b.now, b.now)
	j := b.Next(b.now, b.now)
	write, ok := b.Begin(&j, false)
	b.True(write && ok)
	return j
}

// An attempt that is about to begin does not begin after a Pause and a Resume in the frame of its begin, also if the wall
// clock was set back meanwhile, so that its run is still to come.
func TestPauseAndResumeBeforeABegin(t *testing.T) {
	b := scheduled(t)
	j := b.reviewed()
	b.now = int64(time.Hour)
	c := &Call{Ops: pauseAndResume}
	c.Begin(&b.Config, b.now, b.now)
	b.commit(func() {
		b.NoError(b.Owner.Call(c))
		e := Begun(j)
		b.False(b.Record(&e))
	})
	b.Equal(time.Second, b.due())
}

// A timer that was paused and resumed while its begin waited to be written waits for its time again. That begin is left out,
// also when the timer has begun anew.
func TestBeginThatWaitsBesideAPauseAndResume(t *testing.T) {
	b := scheduled(t)
	first := Begun(b.reviewed())
	b.now = int64(time.Hour)
	b.commitCall(&Call{Ops: pauseAndResume})
	b.commit(func() { b.False(b.Record(&first)) })
	b.now += int64(2 * time.Second)
	again := b.reviewed()
	e := Begun(again)
	b.commit(func() { b.True(b.Record(&e)) })
	b.True(b.Written(&again))
	b.Started(&Attempt{Job: again, Name: 7})
	b.commit(func() { b.False(b.Record(&first)) })
}

// The attempt of a suspect, whose begin is in the log, waits for the lease. Its timer is paused meanwhile: it has begun, so
// it goes on, and its begin is not written again.
func TestDelayedSuspectIsPaused(t *testing.T) {
	b := scheduled(t)
	run, _, _ := b.State.Find([]byte("k"))
	b.commit(func() { b.Add(&frame.Op{Kind: frame.Begin, Key: []byte("k"), ID: run.ID, Attempt: 1}) })
	b.commit(func() { b.Empty(b.FailBegun(b.State.Begun())) })
	b.now += int64(2 * time.Minute)
	a := &Attempt{Job: b.suspect(), Name: 7}
	e := Begun(a.Job)
	b.commit(func() { b.True(b.Record(&e)) })
	b.True(b.Written(&a.Job))
	b.Started(a)
	b.Stop(a)
	b.Delay(a.Job)
	b.commitCall(&Call{Ops: pauseAndResume[:1]})
	j := b.Next(b.now, b.now)
	write, ok := b.Begin(&j, false)
	b.True(ok && !write && j.Suspect)
}

// suspect returns the job of a suspect, whose attempt begins once that is in the log.
func (b *bench) suspect() Job {
	j := b.Next(b.now, b.now)
	write, ok := b.Begin(&j, false)
	b.True(write && ok && j.Suspect)
	return j
}
