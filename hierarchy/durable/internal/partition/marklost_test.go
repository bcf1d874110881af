package partition

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// strayMarks is a log over whose mark somebody else writes, until the next one is set.
type strayMarks struct {
	storage.Log
	stray atomic.Bool
}

func (l *strayMarks) Mark(ctx context.Context) (storage.Mark, error) {
	if l.stray.Load() {
		return storage.Mark{}, fmt.Errorf("%w: it is no mark", storage.ErrStranger)
	}
	return l.Log.Mark(ctx)
}

func (l *strayMarks) SetMark(ctx context.Context, m storage.Mark) error {
	err := l.Log.SetMark(ctx, m)
	l.stray.Store(l.stray.Load() && err != nil)
	return err
}

// Without a mark that can be read, a log is taken over by its frames alone. The new owner sets its mark.
func TestMarkThatStrangersHaveWrittenOver(t *testing.T) {
	b := newBench(t)
	var logged bytes.Buffer
	b.cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	b.open()
	b.set("a", "1", time.Hour)
	b.shut()
	b.intrude("hello", "twice")
	b.log = b.disk.Open()
	log := &strayMarks{Log: b.log}
	log.stray.Store(true)
	var err error
	b.p, err = Open(t.Context(), b.cfg.with(log))
	b.NoError(err)
	b.Contains(logged.String(), "somebody else has written over the mark")
	b.Equal(map[string]string{"a": "1"}, b.keys(false))
	b.set("b", "2", time.Hour)
	last := b.p.Last()
	b.shut()
	b.False(log.stray.Load())
	mark, err := b.disk.Open().Mark(t.Context())
	b.NoError(err)
	b.GreaterOrEqual(mark.Number, last)
	b.open()
	b.Equal(map[string]string{"a": "1", "b": "2"}, b.keys(false))
}
