package partition

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// An owner that learns that its log is taken reads nothing from it any more before it answers anybody.
func TestOldOwnerReadsNothing(t *testing.T) {
	b := newBench(t)
	told := make(chan error, 1)
	b.cfg.Logger = slog.New(onRecord{slog.DiscardHandler, "durable: the log is lost", func() {
		_, _, _, err := b.p.Get([]byte("a"))
		told <- err
	}})
	b.open()
	b.set("a", "1", time.Minute)
	other := b.disk.Open()
	defer other.Close()
	bounds, err := other.Bounds(t.Context())
	b.NoError(err)
	b.NoError(other.Append(t.Context(), bounds.Last, []byte("EpiF of another owner")))
	_, err = b.try(core.Op{Kind: frame.Remove, Key: []byte("a")})
	b.ErrorIs(err, ErrNotOwner)
	b.ErrorIs(<-told, ErrNotOwner)
}

// onRecord calls f for each record with a message.
type onRecord struct {
	slog.Handler
	message string
	f       func()
}

func (o onRecord) Enabled(context.Context, slog.Level) bool { return true }

func (o onRecord) Handle(_ context.Context, r slog.Record) error {
	if r.Message == o.message {
		o.f()
	}
	return nil
}

// IDs of a restored backup are not those of the original.
func TestIDsOfACopyDiffer(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("old", "", time.Minute)
	b.shut()
	backup := b.disk.Copy()
	id := func(k string) frame.ID {
		t, _, ok := b.p.core.State.Find([]byte(k))
		b.True(ok)
		return t.ID
	}
	b.open()
	b.set("a", "", time.Minute)
	a, old := id("a"), id("old")
	b.crash()
	b.disk = backup
	b.open()
	b.set("a", "", time.Minute)
	b.NotEqual(a, id("a"))
	b.Equal(old, id("old"))
}

// Stats say since when the log has not answered.
func TestUnavailableSince(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		b.Zero(b.p.Stats().Unavailable)
		time.Sleep(time.Hour)
		b.disk.SetFull(true)
		begun := time.Now()
		go b.p.Do(context.Background(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a")}}})
		time.Sleep(10 * time.Minute)
		b.WithinDuration(begun, b.p.Stats().Unavailable, time.Second)
		b.disk.SetFull(false)
		time.Sleep(time.Minute)
		b.Zero(b.p.Stats().Unavailable)
		b.shut()
	})
}
