package partition

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

func (b *bench) pause(k string)  { b.True(b.do(core.Op{Kind: frame.Pause, Key: []byte(k)})) }
func (b *bench) resume(k string) { b.True(b.do(core.Op{Kind: frame.Resume, Key: []byte(k)})) }

// What was announced, and has not begun, is withdrawn by a pause. It is over when the schedule is resumed.
func TestPauseOfWhatWasAnnounced(t *testing.T) {
	b := newBench(t)
	withdrawn := b.announcing()
	b.open()
	b.schedule("k", "v", "@every 10s")
	b.mock.Add(10 * time.Second)
	first := b.last()
	b.pause("k")
	b.Equal([]core.Firing{first}, *withdrawn)
	_, ok := b.p.Begin([]byte("k"), first.ID)
	b.False(ok)
	b.mock.Add(time.Minute)
	b.Len(b.fired, 1)
	b.resume("k")
	_, ok = b.p.Begin([]byte("k"), first.ID)
	b.False(ok)
	b.mock.Add(10 * time.Second)
	b.Len(b.fired, 2)
	b.NotEqual(first.ID, b.last().ID)
	b.begin()
}

// What was taken goes on in a pause, whoever owns the log, and its token ends it. The next run waits.
func TestPauseOfWhatWasTaken(t *testing.T) {
	for name, succeed := range successions {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.announcing()
			b.open()
			b.schedule("k", "v", "@every 10s")
			b.mock.Add(10 * time.Second)
			taken := b.begin()
			end := b.ends(&taken, time.Minute)
			b.pause("k")
			succeed(b)
			b.mock.Add(20 * time.Second)
			b.True(end(nil))
			b.False(end(nil))
			b.mock.Add(time.Minute)
			b.Len(b.fired, 1)
			b.resume("k")
			b.mock.Add(10 * time.Second)
			b.Len(b.fired, 2)
			b.shut()
		})
	}
}

// What was taken and is not ended in time is over in a pause, and not tried again.
func TestPauseOfWhatIsNotEnded(t *testing.T) {
	b := newBench(t)
	b.announcing()
	b.open()
	b.schedule("k", "v", "@every 10s")
	b.mock.Add(10 * time.Second)
	taken := b.begin()
	end := b.ends(&taken, 30*time.Second)
	b.shut() // the attempt is left
	b.open()
	b.pause("k")
	b.resume("k") // it still goes on
	b.pause("k")
	b.mock.Add(time.Minute)
	b.Len(b.fired, 1)
	b.resume("k")
	b.False(end(nil))
	b.mock.Add(10 * time.Second)
	b.Len(b.fired, 2)
	b.EqualValues(1, b.last().Attempt)
	b.NotEqual(taken.ID, b.last().ID)
	b.shut()
}
