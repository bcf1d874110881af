package tabletest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// follower reads a watch.
type follower struct {
	*contract
	changes <-chan storage.Change
	all     bool
	known   map[string]storage.Record
}

func (c *contract) follow(ctx context.Context) *follower {
	changes, err := c.store.Watch(ctx)
	c.NoError(err)
	return &follower{c, changes, false, make(map[string]storage.Record)}
}

// until reads changes until done returns true.
func (f *follower) until(done func() bool) {
	for !done() {
		select {
		case change, ok := <-f.changes:
			f.True(ok, "the watch has ended")
			f.take(change)
		case <-f.ctx.Done():
			f.FailNow("it does not come")
		}
	}
}

func (f *follower) take(c storage.Change) {
	if c.All {
		f.False(f.all, "it comes once")
		f.all = true
		return
	}
	f.GreaterOrEqual(c.Revision, f.known[c.Key].Revision)
	f.Equal(c.Deleted, c.Value == nil)
	if f.all {
		f.WithinDuration(time.Now(), c.Time, time.Minute, "the table's clock is this machine's")
	}
	c.Time = time.Time{}
	f.known[c.Key] = c.Record
}

// upTo reads until there is a revision at least that high.
func (f *follower) upTo(revision uint64) {
	f.until(func() bool {
		for _, r := range f.known {
			if r.Revision >= revision {
				return true
			}
		}
		return false
	})
}

func (c *contract) watchEmpty() {
	f := c.follow(c.ctx)
	f.until(func() bool { return f.all })
	c.Empty(f.known)
	n := c.set("x", "a", 0)
	f.upTo(n)
	c.Equal(map[string]storage.Record{"x": {Key: "x", Value: []byte("a"), Revision: n}}, f.known)
}

func (c *contract) watch() {
	a := c.set("member.a", "a", 0)
	c.set("member.a", "a2", a)
	b := c.set("claim.1", "b", 0)
	gone := c.set("member.c", "c", 0)
	c.NoError(c.store.Delete(c.ctx, "member.c", gone))
	f := c.follow(c.ctx)
	f.until(func() bool { return f.all })
	c.Len(f.known, 3)
	c.Equal("a2", string(f.known["member.a"].Value))
	c.Equal(storage.Record{Key: "claim.1", Value: []byte("b"), Revision: b}, f.known["claim.1"])
	c.True(f.known["member.c"].Deleted)
	c.NoError(c.open().Delete(c.ctx, "claim.1", b))
	f.until(func() bool { return f.known["claim.1"].Deleted })
	c.Greater(f.known["claim.1"].Revision, b)
	c.Equal(c.absent("claim.1"), f.known["claim.1"].Revision)
}

// watchMany watches more records than fit into any buffer.
func (c *contract) watchMany() {
	const n = 700
	var last uint64
	for i := range n {
		last = c.set(fmt.Sprintf("key.%d", i), "a", 0)
	}
	f := c.follow(c.ctx)
	f.until(func() bool { return f.all })
	c.Len(f.known, n)
	f.upTo(last)
}

// watchUnread checks that a watch that nobody reads ends with its context, and holds up nobody.
func (c *contract) watchUnread() {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	_, err := c.store.Watch(ctx)
	c.NoError(err)
	var last uint64
	for range 700 {
		last = c.set("x", "a", last)
	}
	f := c.follow(c.ctx)
	f.upTo(last)
	cancel()
	f.upTo(c.set("x", "a", last))
}

// watchBusy checks that a watch that begins while everything is being changed ends up with the final records.
func (c *contract) watchBusy() {
	const keys, rounds = 20, 30
	revisions := make([]uint64, keys)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			for range rounds {
				revisions[i] = c.set(fmt.Sprintf("key.%d", i), "a", revisions[i])
			}
		})
	}
	f := c.follow(c.ctx)
	f.until(func() bool { return f.all })
	wg.Wait()
	for i, n := range revisions {
		f.until(func() bool { return f.known[fmt.Sprintf("key.%d", i)].Revision == n })
	}
}
