package partition

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// lastError is what is known of the last failure of a key, and when that was.
func (b *bench) lastError(key string) (text string, at time.Duration) {
	t, ok, err := b.p.Lookup([]byte(key))
	b.NoError(err)
	b.True(ok)
	return t.LastError, time.Duration(t.Failed)
}

// again opens the partition once more, and once more after trimming has written everything again.
func (b *bench) again(check func()) {
	check()
	b.reopen()
	check()
	trimmed := b.p.Stats().Trimmed
	for range 100 {
		b.set("often", strings.Repeat("y", 100), time.Hour)
	}
	b.Greater(b.p.Stats().Trimmed, trimmed)
	check()
	b.reopen()
	check()
}

// A timer that waits for another attempt says why the last one failed and when, also after a restart and after
// trimming.
func TestLastErrorOfWaiting(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 2000
	b.cfg.Backoff = func(int) time.Duration { return time.Hour }
	long := strings.Repeat("x", core.MaxError-1)
	texts := map[string]string{"a": "no \xff", "long": long + "\u00e4 and more", "mute": ""}
	b.handle = func(_ context.Context, f core.Firing) error { return errors.New(texts[f.Key]) }
	b.open()
	start := time.Duration(b.mock.Now().UnixNano())
	for key := range texts {
		b.set(key, "", time.Second)
	}
	b.set("unfailed", "", 2*time.Hour)
	b.mock.Add(time.Second)
	b.again(func() {
		for key, want := range map[string]string{"a": "no \uFFFD", "long": long, "mute": "an error without a text"} {
			text, at := b.lastError(key)
			b.Equal(want, text)
			b.Equal(start+time.Second, at)
			found, _, err := b.p.Lookup([]byte(key))
			b.NoError(err)
			b.Equal(int64(start+time.Second+time.Hour), found.Next)
		}
		text, at := b.lastError("unfailed")
		b.Empty(text)
		b.Zero(at)
	})
}

// A timer that was changed has not failed.
func TestLastErrorIsForgotten(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 2000
	b.cfg.MaxAttempts = 2
	b.cfg.Backoff = func(int) time.Duration { return time.Hour }
	b.handle = func(_ context.Context, f core.Firing) error {
		if f.Key == "revived" {
			return &core.Final{Err: errHandler}
		}
		return errHandler
	}
	b.open()
	keys := []string{"set", "moved", "revived"}
	for _, key := range keys {
		b.set(key, "", 0)
	}
	b.mock.Add(0)
	for _, key := range keys {
		text, _ := b.lastError(key)
		b.Equal(errHandler.Error(), text)
	}
	b.handle = nil
	b.set("set", "", time.Hour)
	b.True(b.move("moved", time.Hour))
	b.p.firer.halt() // so that what is revived does not end
	b.True(b.revive("revived"))
	b.again(func() {
		b.p.firer.halt()
		for _, key := range keys {
			text, at := b.lastError(key)
			b.Empty(text, key)
			b.Zero(at, key)
		}
	})
}

// In one frame, too, an operation sees what the ones before it have left.
func TestLastErrorInOneFrame(t *testing.T) {
	b := newBench(t)
	b.cfg.Backoff = func(int) time.Duration { return time.Hour }
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.set("a", "", 0)
	b.mock.Add(0)
	whole := func(ops ...core.Op) state.Timer {
		c := &core.Call{Ops: ops}
		b.NoError(b.p.Do(b.t.Context(), c))
		timer, ok := core.Was(c.Values[len(c.Values)-1])
		b.True(ok)
		return timer
	}
	set := core.Op{Kind: frame.Set, Key: []byte("a"), In: time.Hour, Whole: true}
	b.Equal(errHandler.Error(), whole(set).LastError)
	b.mock.Add(time.Hour)
	b.Empty(whole(core.Op{Kind: frame.Move, Key: []byte("a"), In: time.Hour}, set).LastError)
}

// The last error of a schedule stays until a run succeeds: each new run would hide it otherwise.
func TestLastErrorOfASchedule(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 2000
	b.cfg.MaxAttempts = 2
	b.open()
	start := time.Duration(b.mock.Now().UnixNano())
	for _, text := range []string{"first", "second", "third"} {
		b.handle = func(_ context.Context, f core.Firing) error {
			return errors.New(text + strings.Repeat("!", int(f.Attempt)))
		}
		b.schedule("k", "", "@every 1h")
		b.mock.Add(time.Hour)
		failed := time.Duration(b.mock.Now().UnixNano())
		b.again(func() {
			got, at := b.lastError("k")
			b.Equal(text+"!", got)
			b.Equal(failed, at)
		})
		b.mock.Add(time.Second)
		b.again(func() { // the run has died, and another one waits
			got, at := b.lastError("k")
			b.Equal(text+"!!", got)
			b.Equal(failed+time.Second, at)
			found, _, err := b.p.Lookup([]byte("k"))
			b.NoError(err)
			b.Zero(found.Attempt)
		})
	}
	b.Greater(time.Duration(b.mock.Now().UnixNano()), start)
	b.handle = nil
	b.mock.Add(time.Hour)
	b.again(func() {
		text, at := b.lastError("k")
		b.Empty(text)
		b.Zero(at)
	})
}

// An attempt that was cut off by the end of the process has failed of that.
func TestLastErrorOfADeath(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	b.cfg.Backoff = func(int) time.Duration { return time.Hour }
	b.open()
	b.p.firer.halt()
	b.set("a", "", 0)
	b.crash()
	begun := make(chan bool, 1)
	b.handle = func(ctx context.Context, _ core.Firing) error {
		begun <- true
		<-ctx.Done()
		return ctx.Err()
	}
	b.open() // what is due after a crash is written before it begins
	<-begun
	b.crash()
	b.open()
	text, _ := b.lastError("a")
	b.Equal("the process ended during the attempt", text)
	b.shut()
}
