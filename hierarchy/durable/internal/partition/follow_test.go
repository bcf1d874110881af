package partition

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// follow follows the log by a connection of its own.
func (b *bench) follow() *Follower {
	f, err := Follow(b.t.Context(), b.cfg.with(b.disk.Open()))
	b.NoError(err)
	return f
}

// own has a Follower take the log over from the present owner, if there is one.
func (b *bench) own(f *Follower) {
	p, err := f.Own(b.t.Context(), func(*Partition) {})
	b.NoError(err)
	if b.p != nil {
		b.crash()
	}
	b.p, b.log = p, b.disk.Open()
}

// busy is a log whose owner writes whenever its end is asked for.
type busy struct {
	storage.Log
	write func()
}

func (l busy) Bounds(ctx context.Context) (storage.Bounds, error) {
	b, err := l.Log.Bounds(ctx)
	l.write()
	return b, err
}

// An owner that writes all the time does not keep others from following its log.
func TestFollowerOfABusyOwner(t *testing.T) {
	b := newBench(t)
	b.open()
	writes := 0
	write := func() {
		if writes++; writes < 1000 {
			b.set(fmt.Sprint(writes), "", time.Hour)
		}
	}
	f, err := Follow(t.Context(), b.cfg.with(busy{b.disk.Open(), write}))
	b.NoError(err)
	b.Less(writes, 10)
	for range 10 {
		b.NoError(f.CatchUp(t.Context()))
	}
	b.Less(writes, 50)
	b.own(f)
	b.Len(b.keys(false), writes-1) // the last of them was written by the old owner before the takeover
}

// A log that ended in order is followed like any other: what was under way does not count.
func TestFollowerSeesAnOrderlyEnd(t *testing.T) {
	b := newBench(t)
	b.open()
	b.p.firer.halt()
	b.set("a", "", 0)
	b.crash()
	b.open() // its attempt is written before it begins
	done := make(chan struct{}, 1)
	b.p.mu.Lock()
	j := b.p.core.Next(b.p.time.both())
	j.Key = []byte("a")
	b.p.firer.stopped = true // it is written, and does not begin
	b.p.firer.active++
	b.p.mu.Unlock()
	b.NoError(b.p.writer.queue.put(item{kind: event, Event: core.Begun(j), done: done}))
	<-done
	f := b.follow()
	b.p.Close()
	b.p = nil
	b.own(f)
	b.mock.Add(0)
	b.Equal(uint32(1), b.last().Attempt)
}

// An owner that trims while its log is followed takes nothing from the follower.
func TestFollowerOfALogThatIsTrimmed(t *testing.T) {
	for _, behind := range []bool{false, true} {
		t.Run(fmt.Sprint("behind=", behind), func(t *testing.T) {
			b := newBench(t)
			b.cfg.TrimAbove = 300
			b.open()
			b.set("stays", "1", time.Hour)
			f := b.follow()
			from := b.head().Begin
			value := string(make([]byte, 1000))
			for i := 0; i < 5 || b.head().Begin < from+100; i++ { // it trims beside this, too
				b.set(fmt.Sprint(i%5), value, time.Hour)
			}
			if behind { // what it has not read has gone
				b.NoError(b.log.Trim(t.Context(), b.head().Begin))
			}
			b.own(f)
			b.Len(b.keys(false), 6)
			want := int64(0)
			for data, err := range b.log.Read(t.Context(), b.p.core.Head.Begin, b.p.core.Head.Number) {
				b.NoError(err)
				want += int64(len(data) + 160)
			}
			b.Equal(want, b.p.core.Total)
		})
	}
}

func (b *bench) head() frame.Header {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	return b.p.core.Head.Header
}

// trimming is a log whose owner writes, and trims all before that, when its end is about to be read.
type trimming struct {
	storage.Log
	once *bool
	trim func()
}

func (l trimming) Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	if from == to && !*l.once {
		*l.once = true
		l.trim()
	}
	return l.Log.Read(ctx, from, to)
}

// The owner may trim what was the last frame when its number was asked for. That is no damage.
func TestFollowerOfALogThatIsTrimmedToItsEnd(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 300
	b.open()
	b.set("stays", "1", time.Hour)
	once := false
	f, err := Follow(t.Context(), b.cfg.with(trimming{b.disk.Open(), &once, func() {
		for from, i := b.head().Number, 0; b.head().Begin <= from; i++ {
			b.set(fmt.Sprint(i%5), string(make([]byte, 1000)), time.Hour)
		}
		b.NoError(b.log.Trim(t.Context(), b.head().Begin))
	}}))
	b.NoError(err)
	b.True(once)
	b.own(f)
	b.Equal("1", b.keys(false)["stays"])
}
