// Package tabletest has the tests that each implementation of storage.Table passes.
package tabletest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Run tests the tables that open returns. Each call of fresh makes a new table, and each call of the function that it
// returns opens another connection to that table.
func Run(t *testing.T, fresh func(t *testing.T) (open func() storage.Table)) {
	for name, test := range map[string]func(*contract){
		"Empty": (*contract).empty, "Put": (*contract).put, "Expected": (*contract).expected,
		"Delete": (*contract).delete, "DeleteAbsent": (*contract).deleteAbsent, "Race": (*contract).race,
		"Owned": (*contract).owned, "EndOfContext": (*contract).endOfContext,
		"Watch": (*contract).watch, "WatchEmpty": (*contract).watchEmpty, "WatchMany": (*contract).watchMany,
		"WatchUnread": (*contract).watchUnread, "WatchBusy": (*contract).watchBusy,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			open := fresh(t)
			test(&contract{require.New(t), ctx, open, open()})
		})
	}
}

type contract struct {
	*require.Assertions
	ctx   context.Context
	open  func() storage.Table
	store storage.Table
}

// set puts a value, and checks that the table accepts it.
func (c *contract) set(key, value string, last uint64) uint64 {
	n, err := c.store.Put(c.ctx, key, []byte(value), last)
	c.NoError(err)
	c.Greater(n, last)
	return n
}

// has checks that key has that value and revision, through old and new connections.
func (c *contract) has(key, value string, revision uint64) {
	for _, s := range []storage.Table{c.store, c.open()} {
		r, err := s.Get(c.ctx, key)
		c.NoError(err)
		c.Equal(storage.Record{Key: key, Value: []byte(value), Revision: revision}, r)
	}
}

// absent checks that key does not exist, and returns the revision of its deletion.
func (c *contract) absent(key string) uint64 {
	r, err := c.store.Get(c.ctx, key)
	c.ErrorIs(err, storage.ErrAbsent)
	c.Equal(key, r.Key)
	c.Empty(r.Value)
	c.Equal(r.Revision > 0, r.Deleted)
	return r.Revision
}

func (c *contract) refused(key string, last uint64) {
	for _, s := range []storage.Table{c.store, c.open()} {
		_, err := s.Put(c.ctx, key, []byte("other"), last)
		c.ErrorIs(err, storage.ErrRefused, "%s %d", key, last)
		c.ErrorIs(s.Delete(c.ctx, key, last), storage.ErrRefused, "%s %d", key, last)
	}
}

func (c *contract) empty() {
	c.Zero(c.absent("member.1"))
	c.refused("member.1", 1)
	c.refused("member.1", 1<<40)
	c.Zero(c.absent("member.1"))
}

func (c *contract) put() {
	a := c.set("member.1", "a", 0)
	b := c.set("claim.7", "b", 0)
	c.Greater(b, a)
	a2 := c.set("member.1", "a2", a)
	c.Greater(a2, b)
	c.has("member.1", "a2", a2)
	c.has("claim.7", "b", b)
	c.Zero(c.absent("claim.70"))
	c.has("member.1", "a2", a2)
}

// expected checks that a change that expects another revision is refused, and changes nothing.
func (c *contract) expected() {
	a := c.set("x", "a", 0)
	b := c.set("x", "b", a)
	other := c.set("y", "other", 0)
	for _, last := range []uint64{0, a, other, b + 100} {
		c.refused("x", last)
	}
	c.has("x", "b", b)
}

func (c *contract) delete() {
	a := c.set("x", "a", 0)
	b := c.set("x", "b", a)
	c.NoError(c.store.Delete(c.ctx, "x", b))
	gone := c.absent("x")
	c.Greater(gone, b)
	for _, last := range []uint64{0, a, b} {
		c.refused("x", last)
	}
	c.Equal(gone, c.absent("x"))
	c.has("x", "new", c.set("x", "new", gone))
}

// deleteAbsent checks that a key that has never existed can be deleted exactly once.
func (c *contract) deleteAbsent() {
	c.NoError(c.store.Delete(c.ctx, "x", 0))
	gone := c.absent("x")
	c.NotZero(gone)
	c.refused("x", 0)
	c.Equal(gone, c.absent("x"))
	b := c.set("y", "b", 0)
	c.ErrorIs(c.store.Delete(c.ctx, "y", 0), storage.ErrRefused)
	c.has("y", "b", b)
}

// race checks that of several concurrent changes of one revision exactly one succeeds.
func (c *contract) race() {
	stores := []storage.Table{c.store, c.open(), c.open()}
	for round := range 30 {
		last, err := c.store.Get(c.ctx, "x")
		if round == 0 {
			c.ErrorIs(err, storage.ErrAbsent)
		}
		var wg sync.WaitGroup
		errs := make([]error, len(stores))
		for i, s := range stores {
			wg.Go(func() {
				if i == 0 && round%3 == 1 {
					errs[i] = s.Delete(c.ctx, "x", last.Revision)
				} else {
					_, errs[i] = s.Put(c.ctx, "x", fmt.Appendf(nil, "%d", i), last.Revision)
				}
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else {
				c.ErrorIs(err, storage.ErrRefused)
			}
		}
		c.Equal(1, won)
	}
}

// owned checks that the table shares no memory with what was passed to it, or returned.
func (c *contract) owned() {
	value := []byte("value")
	changes, err := c.store.Watch(c.ctx)
	c.NoError(err)
	n, err := c.store.Put(c.ctx, "x", value, 0)
	c.NoError(err)
	clear(value)
	r, err := c.store.Get(c.ctx, "x")
	c.NoError(err)
	clear(r.Value)
	for change := range changes {
		if !change.All {
			c.Equal("value", string(change.Value))
			clear(change.Value)
			break
		}
	}
	c.has("x", "value", n)
}

func (c *contract) endOfContext() {
	n := c.set("x", "a", 0)
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	_, err := c.store.Put(ctx, "x", nil, n)
	c.ErrorIs(err, context.Canceled)
	c.ErrorIs(c.store.Delete(ctx, "x", n), context.Canceled)
	_, err = c.store.Get(ctx, "x")
	c.ErrorIs(err, context.Canceled)
	if changes, err := c.store.Watch(ctx); err == nil {
		for range changes { // until the watch ends
		}
	}
}
