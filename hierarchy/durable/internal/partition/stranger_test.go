package partition

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// intrude has somebody else publish messages to the log, and returns the number of the last one.
func (b *bench) intrude(messages ...string) (last uint64) {
	log := b.disk.Open()
	defer log.Close()
	for _, m := range messages {
		bounds, err := log.Bounds(b.t.Context())
		b.NoError(err)
		last = bounds.Last + 1
		for log.Append(b.t.Context(), last-1, []byte(m)) != nil { // the owner was faster
			last++
		}
	}
	return last
}

// message is message number of the log.
func (b *bench) message(number uint64) string {
	log := b.disk.Open()
	defer log.Close()
	data, err := log.Get(b.t.Context(), number)
	b.NoError(err)
	return string(data)
}

// strangers is a handler of records that counts the warnings of strangers' messages.
func strangers(told *int) slog.Handler {
	return onRecord{slog.DiscardHandler, "durable: somebody else has written to the log, which is left out", func() { *told++ }}
}

// What somebody else has published to a log is left out, by its owner and by whoever reads it, and a word is said of it
// once in a while.
func TestStrangersAreLeftOut(t *testing.T) {
	b := newBench(t)
	told := 0
	b.cfg.Logger = slog.New(strangers(&told))
	b.intrude("hello", "before all frames")
	b.open()
	for i := range 5 {
		b.set(fmt.Sprint("k", i), "v", time.Hour)
		b.intrude("", b.message(b.p.Last()), "Epi")
	}
	b.Equal(1, told, "said once in a while")
	b.NoError(Peek(t.Context(), b.cfg.with(b.disk.Open())))
	b.reopen()
	b.Greater(told, 1)
	b.Len(b.keys(false), 5)
}

// A frame that is missing or altered is damage, also if a stranger's message is in its place, or beside it.
func TestStrangersHideNoDamage(t *testing.T) {
	for name, spoil := range map[string]func(b *bench, last uint64){
		"in the middle":    func(b *bench, last uint64) { b.disk.Change(last-4, []byte("hello")) },
		"before strangers": func(b *bench, last uint64) { b.disk.Change(last-3, []byte("hello")) },
		"the marked one":   func(b *bench, last uint64) { b.disk.Change(last, []byte("hello")) },
		"the first one":    func(b *bench, last uint64) { b.disk.Change(1, []byte("hello")) },
		"all": func(b *bench, last uint64) {
			for n := range last {
				b.disk.Change(n+1, []byte("hello"))
			}
		},
		"the magic": func(b *bench, last uint64) { b.disk.Change(last-3, []byte("e"+b.message(last - 3)[1:])) },
		"altered":   func(b *bench, last uint64) { b.disk.Change(last-3, []byte(b.message(last - 3)[:70])) },
		"another's": func(b *bench, last uint64) { b.disk.Change(last-3, []byte(b.message(last-4))) },
		"a later frame": func(b *bench, last uint64) {
			b.disk.Change(last-1, []byte(b.message(last)))
			b.disk.Remark(storage.Mark{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.open()
			for i := range 5 {
				b.set(fmt.Sprint(i), "", time.Hour)
			}
			b.intrude("hello")
			b.set("a", "", time.Hour)
			b.shut()
			bounds, err := b.disk.Open().Bounds(t.Context())
			b.NoError(err)
			b.Equal(uint64(9), bounds.Last) // a stranger's at 7
			spoil(b, bounds.Last)
			b.ErrorIs(b.tryOpen(), ErrDamaged)
			b.p = nil
		})
	}
}

// Trimming leaves strangers' messages out, and never has the log begin with one.
func TestTrimmingPassesStrangers(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 10 << 10
	b.open()
	b.set("stays", "v", 1000*time.Hour)
	foreign := make(map[uint64]bool)
	for i := range 400 {
		b.set("a", fmt.Sprint(i), time.Hour)
		if i%2 == 0 {
			foreign[b.intrude("hello")] = true
		}
		b.False(foreign[b.head().Begin])
	}
	b.Greater(b.head().Begin, uint64(100))
	b.reopen()
	b.Equal(map[string]string{"stays": "v", "a": "399"}, b.keys(false))
}

// Without whole frames and without a mark nothing was ever written. With a mark, that is damage.
func TestLogOfStrangersAlone(t *testing.T) {
	b := newBench(t)
	for range 3000 {
		b.intrude("hello")
	}
	b.open()
	b.Equal(uint64(3001), b.p.Epoch())
	b.Equal(uint64(3001), b.p.lastHead().Begin)
	b.set("a", "1", time.Hour)
	b.reopen()
	b.Equal(map[string]string{"a": "1"}, b.keys(false))
}

// deaf is a log that does not answer some times when it is asked for its bounds.
type deaf struct {
	storage.Log
	times *atomic.Int64
}

func (l deaf) Bounds(ctx context.Context) (storage.Bounds, error) {
	if l.times.Add(-1) >= 0 {
		<-ctx.Done()
		return storage.Bounds{}, ctx.Err()
	}
	return l.Log.Bounds(ctx)
}

// A log that does not answer while its owner passes a stranger's message holds up callers no longer than one that
// does not answer a frame.
func TestStrangerInALogThatDoesNotAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.log = b.disk.Open()
		l := deaf{b.log, new(atomic.Int64)}
		var err error
		b.cfg.Patience.Answer = 5 * time.Second
		b.p, err = Open(b.t.Context(), b.cfg.with(l))
		b.NoError(err)
		b.intrude("hello", "again")
		l.times.Store(2) // one for each message
		begun := time.Now()
		b.set("k", "v", time.Hour)
		b.Equal(2*b.cfg.Patience.Answer, time.Since(begun))
		b.Equal(map[string]string{"k": "v"}, b.keys(false))
		b.shut()
	})
}
