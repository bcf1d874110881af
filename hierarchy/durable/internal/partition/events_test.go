package partition

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// told writes the bench's events down, without their times, and returns them.
func (b *bench) told() func() []string {
	var text bytes.Buffer
	b.cfg.Logger = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "stack" {
				return slog.Attr{}
			}
			return a
		}}))
	return func() []string {
		defer text.Reset()
		return strings.Split(strings.TrimSpace(text.String()), "\n")
	}
}

func TestDeathIsTold(t *testing.T) {
	b := newBench(t)
	said := b.told()
	b.cfg.MaxAttempts = 2
	b.handle = func(context.Context, core.Firing) error { panic("no") }
	b.open()
	b.set("a key", "", 0)
	b.mock.Add(0)
	b.Equal([]string{`level=ERROR msg="durable: a handler panicked" key="a key" err="panic: no"`}, said())
	b.mock.Add(time.Second)
	b.Equal([]string{`level=ERROR msg="durable: a handler panicked" key="a key" err="panic: no"`,
		`level=WARN msg="durable: a timer is dead" partition=3 key="a key" attempt=2 err="panic: no"`}, said())
}

func TestJumpsOfTheWallClockAreTold(t *testing.T) {
	b := newBench(t)
	said := b.told()
	b.open()
	b.setAt("a", "", b.mock.Now().Add(time.Hour))
	b.mock.Jump(10 * time.Minute)
	b.set("z", "", 100*time.Hour) // has the alarm aimed anew
	b.mock.Add(50 * time.Minute)
	b.Equal([]string{"a"}, b.took())
	b.Equal([]string{`level=WARN msg="durable: the wall clock was set" by=10m0s`}, said())
	b.Equal(10*time.Minute, b.p.Stats().Skew)
	b.mock.Jump(-2 * time.Minute)
	b.set("b", "", time.Second)
	b.set("c", "", 2*time.Second)
	b.mock.Add(2 * time.Second)
	b.Equal([]string{`level=WARN msg="durable: the wall clock was set" by=-2m0s`}, said())
}

// Lateness counts from when the attempt was due, in its own time.
func TestLateness(t *testing.T) {
	b := newBench(t)
	b.handle = func(_ context.Context, f core.Firing) error {
		if f.Attempt == 1 && f.Key == "a" {
			return errHandler
		}
		return nil
	}
	b.open()
	b.set("a", "", time.Second)
	b.setAt("b", "", b.mock.Now().Add(2*time.Second))
	b.mock.Add(time.Minute)
	st := b.p.Stats()
	b.Equal(uint64(3), st.Lateness.Count())
	b.Zero(st.Lateness.Max())
	b.set("c", "", time.Second)
	b.crash()
	b.mock.Add(time.Minute)
	b.open()
	b.mock.Add(0)
	st = b.p.Stats()
	b.Equal(uint64(1), st.Lateness.Count())
	b.Equal(59*time.Second, st.Lateness.Max())
	b.do(core.Op{Kind: frame.Set, Key: []byte("c")})
	b.Equal(b.p.Stats().Frames, b.p.Stats().Commit.Count())
}
