package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Each process has an even share, whoever comes and goes, and what was set is there throughout.
func TestSharesAreEven(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	w.eventually("all", func() bool { return a.owns() == 4 }) // at once, but while its lease has ended
	for i := range 20 {
		a.set(fmt.Sprint("key", i), "value", time.Hour)
	}
	b := w.open()
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	c, d := w.open(), w.open()
	all := []*process{a, b, c, d}
	w.eventually("one each", func() bool { return a.owns() == 1 && b.owns() == 1 && c.owns() == 1 && d.owns() == 1 })
	for _, p := range all {
		w.Len(p.keys(), 20)
		w.eventually("seen so by each", func() bool { // who gave its partition away says so a little later
			members, owners := p.Members()
			texts := make(map[string]bool)
			for _, m := range members {
				if m.Owned == 1 {
					texts[m.Text] = true
				}
			}
			return len(members) == 4 && len(owners) == partitions && len(texts) == 4 // although of one process
		})
	}
	w.NoError(a.Shutdown(t.Context()))
	w.NoError(c.Shutdown(t.Context()))
	w.eventually("two each", func() bool { return b.owns() == 2 && d.owns() == 2 })
	w.Len(b.keys(), 20)
}

// Shutdown ends with its context, whose error it returns. What its handlers had not ended comes again.
func TestShutdownEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	entered := make(chan bool, 10)
	w.handle = func(ctx context.Context, _ core.Firing) error {
		entered <- true
		<-ctx.Done()
		return ctx.Err()
	}
	a := w.open()
	a.set("slow0", "", 0)
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), lease)
	defer cancel()
	w.ErrorIs(a.Shutdown(ctx), context.DeadlineExceeded)
	w.open()
	<-entered
	all := w.firings("slow0")
	w.Greater(all[1].Epoch, all[0].Epoch)
	w.Equal(all[0].ID, all[1].ID)
}

// A damaged log is said to all, once it has been read again for a while. The others go on.
func TestDamage(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	for i := range 8 {
		a.set(fmt.Sprint("key", i), "", time.Hour)
	}
	w.NoError(a.Shutdown(t.Context()))
	at := of("key1")
	w.disks[at].Change(1, []byte("no frame"))
	b, c := w.openSteady(), w.openSteady()
	w.eventually("damaged", func() bool {
		_, _, err := c.do(frame.Set, "key1", "", 0)
		return err != nil && !isUnavailable(err)
	})
	for _, p := range []*process{b, c} {
		_, _, err := p.do(frame.Set, "key1", "", 0)
		w.ErrorIs(err, partition.ErrDamaged)
		_, _, _, err = p.Get(t.Context(), at, []byte("key1"))
		w.ErrorIs(err, partition.ErrDamaged)
		p.set("key2", "", 0)
	}
}

// A log that only seems to be damaged, as what has answered is behind, is opened when it is whole.
func TestDamageThatPasses(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	a.set("key1", "", time.Hour)
	w.NoError(a.Shutdown(t.Context()))
	disk := w.disks[of("key1")]
	good, err := disk.Open().Get(t.Context(), 1)
	w.NoError(err)
	disk.Change(1, []byte("no frame"))
	time.AfterFunc(lease/2, func() { disk.Change(1, good) })
	b := w.process()
	b.behind = patience // however late it is whole
	w.NoError(b.open(t.Context()))
	for begun := time.Now(); time.Since(begun) < lease; {
		_, _, ok, err := b.Get(t.Context(), of("key1"), []byte("key1"))
		w.NoError(err)
		w.True(ok)
	}
}
