package partition

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// While the log does not answer, nothing is fired, and calls are given up. Then all goes on.
func TestLogThatDoesNotAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.GiveUp = 10 * time.Millisecond
		b.open()
		b.set("a", "1", time.Second)
		b.disk.SetFull(true)
		_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("b"), In: time.Minute})
		b.ErrorIs(err, ErrUnavailable)
		b.ErrorContains(err, "no space left")
		_, err = b.try(core.Op{Kind: frame.Set, Key: []byte("c")})
		b.ErrorIs(err, ErrUnavailable)
		v, _ := b.get("a") // is not unavailable
		b.Equal("1", v)
		time.Sleep(2 * time.Second)
		b.Empty(b.took())
		b.disk.SetFull(false)
		for err = errHandler; err != nil; time.Sleep(time.Millisecond) {
			_, err = b.try(core.Op{Kind: frame.Move, Key: []byte("a")})
		}
		synctest.Wait()
		b.Equal([]string{"a"}, b.took())
		b.Equal(map[string]string{"b": ""}, b.keys(false)) // it was under way, and is committed
		b.shut()
	})
}

// Another owner ends this one, which does not know.
func TestOldOwnerIsRefused(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "1", time.Minute)
	old, oldLog := b.p, b.log
	b.open()
	b.set("b", "2", time.Minute)
	err := old.Do(t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte("a")}}})
	b.ErrorIs(err, ErrUnavailable)
	b.ErrorIs(err, storage.ErrTaken)
	_, _, _, err = old.Get([]byte("a"))
	b.ErrorIs(err, ErrUnavailable)
	b.Greater(b.p.Epoch(), old.Epoch())
	b.Equal(map[string]string{"a": "1", "b": "2"}, b.keys(false))
	old.kill(oldLog)
}

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
