package partition

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A frame that can't be read any more while its owner lives is passed by trimming, and nothing that it had is lost.
func TestFrameRotsWhileItsOwnerLives(t *testing.T) {
	for what, rot := range map[string]func([]byte) []byte{
		"flipped":      func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 4; return b },
		"no frame":     func(b []byte) []byte { b = bytes.Clone(b); b[0] ^= 4; return b },
		"missing":      func([]byte) []byte { return nil },
		"another's":    func([]byte) []byte { return []byte("x") },
		"cut in half ": func(b []byte) []byte { return b[:len(b)/2] },
	} {
		t.Run(what, func(t *testing.T) { inBubble(t, func(b *bench) { rotWhileLive(b, rot) }) })
	}
}

func rotWhileLive(b *bench, rot func([]byte) []byte) {
	var text bytes.Buffer
	b.cfg.Logger = slog.New(slog.NewTextHandler(&text, nil))
	b.cfg.TrimAbove = 1 << 10
	b.open()
	for i := range 5 {
		b.set(fmt.Sprint("live ", i), "value", time.Hour)
	}
	asked := func() *core.Call {
		c := &core.Call{Request: core.RequestID{Caller: 7, Serial: 1, Floor: 1},
			Ops: []core.Op{{Kind: frame.Remove, Key: []byte("live 4")}}}
		b.NoError(b.p.Do(b.t.Context(), c))
		return c
	}
	b.True(asked().Took[0])
	number := b.p.Last()
	for _, n := range []uint64{number - 2, number} { // a timer's, and an answer's
		data, err := b.log.Get(b.t.Context(), n)
		b.NoError(err)
		b.disk.Change(n, rot(data))
	}
	for i := 0; b.p.lastHead().Begin <= number; i++ {
		b.Less(i, 100)
		time.Sleep(time.Second)
		b.set("again", string(make([]byte, 500)), time.Hour)
	}
	b.Contains(text.String(), "a frame can't be read any more")
	b.crash()
	b.open()
	b.Len(b.keys(false), 5)
	b.Equal("value", b.keys(false)["live 3"])
	c := asked() // a copy gets the same answer
	b.True(c.Took[0])
	b.Equal([]string{"value"}, c.Values)
}
