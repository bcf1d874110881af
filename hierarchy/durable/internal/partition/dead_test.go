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

// Dead timers are not counted under MaxPending. To come back they need a place.
func TestDeadTimersLeaveRoom(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxPending, b.cfg.MaxAttempts = 1, 1
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.set("a", "", 0)
	b.mock.Add(0)
	b.Equal(map[string]string{"a": ""}, b.keys(true))
	b.set("b", "", time.Hour)
	_, err := b.try(core.Op{Kind: frame.Revive, Key: []byte("a")})
	b.ErrorIs(err, core.ErrFull)
	_, err = b.try(core.Op{Kind: frame.Set, Key: []byte("a")})
	b.ErrorIs(err, core.ErrFull)
	b.reopen()
	b.remove("b")
	b.True(b.revive("a"))
}

func TestDeadTimersKeepTheirKeys(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAttempts = 1
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.set("a", "1", 0)
	b.set("b", "2", 0)
	b.mock.Add(0)
	b.Len(b.keys(true), 2)
	v, ok := b.remove("a")
	b.True(ok)
	b.Equal("1", v)
	b.set("b", "3", time.Second)
	b.Empty(b.keys(true))
	b.Equal(map[string]string{"b": "3"}, b.keys(false))
}

// What a dead timer died of, and when, is in the log, also after trimming. Long texts are cut.
func TestLastError(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAttempts, b.cfg.TrimAbove = 2, 2000
	text := strings.Repeat("x", core.MaxError-1)
	b.handle = func(_ context.Context, f core.Firing) error {
		switch {
		case f.Key == "long":
			return errors.New(text + "\u00e4 and more")
		case f.Attempt == 1:
			return errors.New("not this one")
		}
		return errors.New("no \xff")
	}
	b.open()
	b.set("a", "", 0)
	b.set("long", "", time.Second)
	b.mock.Add(time.Minute)
	want := map[string]string{"a": "no \uFFFD", "long": text}
	check := func() {
		got := make(map[string]string)
		b.NoError(b.p.All(true, func(timer state.Timer) bool {
			got[timer.Key] = timer.LastError
			b.Equal(map[string]time.Duration{"a": time.Second, "long": 2 * time.Second}[timer.Key]+1000*time.Hour, time.Duration(timer.Failed))
			return true
		}))
		b.Equal(want, got)
	}
	check()
	b.reopen()
	check()
	trimmed := b.p.Stats().Trimmed
	for range 100 {
		b.set("often", strings.Repeat("y", 100), time.Hour)
	}
	b.Greater(b.p.Stats().Trimmed, trimmed)
	b.reopen()
	check()
}
