package partition

import (
	"context"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Dead timers are not counted under MaxPending. To come back they need a place.
func TestDeadTimersLeaveRoom(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxPending, b.cfg.MaxAttempts = 1, 1
	b.handle = func(context.Context, Firing) error { return errHandler }
	b.open()
	b.set("a", "", 0)
	b.mock.Add(0)
	b.Equal(map[string]string{"a": ""}, b.keys(true))
	b.set("b", "", time.Hour)
	_, err := b.try(Ask{Kind: frame.Revive, Key: []byte("a")})
	b.ErrorIs(err, ErrFull)
	_, err = b.try(Ask{Kind: frame.Set, Key: []byte("a")})
	b.ErrorIs(err, ErrFull)
	b.reopen()
	b.remove("b")
	b.True(b.revive("a"))
}

func TestDeadTimersKeepTheirKeys(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAttempts = 1
	b.handle = func(context.Context, Firing) error { return errHandler }
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
