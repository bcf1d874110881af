// Package logtest has the tests that each implementation of storage.Log passes.
package logtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Run tests the logs that open returns. Each call of fresh makes a new log, and each call of the function that it
// returns opens another connection to that log.
func Run(t *testing.T, fresh func(t *testing.T) (open func() storage.Log)) {
	for name, test := range map[string]func(*contract){
		"Empty": (*contract).empty, "Append": (*contract).append, "Expected": (*contract).expected,
		"Large": (*contract).large, "Read": (*contract).read, "ReadMuch": (*contract).readMuch,
		"Trim": (*contract).trim, "TrimAll": (*contract).trimAll, "Marks": (*contract).marks,
		"Race": (*contract).race, "EndOfContext": (*contract).endOfContext, "Owned": (*contract).owned,
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
	ctx  context.Context
	open func() storage.Log
	log  storage.Log
}

// fill appends the messages with the numbers from from to to.
func (c *contract) fill(from, to uint64) {
	for n := from; n <= to; n++ {
		c.NoError(c.log.Append(c.ctx, n-1, message(n)))
	}
}

func message(n uint64) []byte { return fmt.Appendf(nil, "message %d", n) }

// holds checks that the log has exactly the messages from first to last.
func (c *contract) holds(first, last uint64) {
	for _, log := range []storage.Log{c.log, c.open()} {
		b, err := log.Bounds(c.ctx)
		c.NoError(err)
		c.Equal(storage.Bounds{First: first, Last: last}, b)
		n := first
		for data, err := range log.Read(c.ctx, first, last) {
			c.NoError(err)
			c.Equal(message(n), data)
			n++
		}
		c.Equal(last+1, n)
		for _, n := range []uint64{first - 1, last + 1} {
			_, err := log.Get(c.ctx, n)
			c.ErrorIs(err, storage.ErrAbsent, "%d", n)
		}
	}
}

func (c *contract) empty() {
	c.holds(1, 0)
	for range c.log.Read(c.ctx, 1, 0) {
		c.Fail("an empty range has nothing")
	}
	c.onlyAbsent(1, 1)
	_, err := c.log.Mark(c.ctx)
	c.ErrorIs(err, storage.ErrAbsent)
	c.NoError(c.log.Trim(c.ctx, 1))
	c.holds(1, 0)
}

// onlyAbsent checks that the range begins with a message that is not there.
func (c *contract) onlyAbsent(from, to uint64) {
	n := 0
	for _, err := range c.log.Read(c.ctx, from, to) {
		c.ErrorIs(err, storage.ErrAbsent)
		n++
	}
	c.Equal(1, n)
}

func (c *contract) append() {
	c.fill(1, 3)
	c.holds(1, 3)
	data, err := c.log.Get(c.ctx, 2)
	c.NoError(err)
	c.Equal(message(2), data)
}

// expected checks that an append at another sequence is refused, and leaves nothing.
func (c *contract) expected() {
	c.ErrorIs(c.log.Append(c.ctx, 1, message(1)), storage.ErrRefused)
	c.fill(1, 2)
	other := c.open()
	for _, last := range []uint64{0, 1, 3, 1 << 40} {
		c.ErrorIs(c.log.Append(c.ctx, last, message(9)), storage.ErrRefused, "%d", last)
		c.ErrorIs(other.Append(c.ctx, last, message(9)), storage.ErrRefused, "%d", last)
	}
	c.NoError(other.Append(c.ctx, 2, message(3)))
	c.ErrorIs(c.log.Append(c.ctx, 2, message(3)), storage.ErrRefused, "a second copy")
	c.holds(1, 3)
}

func (c *contract) large() {
	most := c.log.MaxMessage()
	c.GreaterOrEqual(most, 256<<10)
	data := make([]byte, most)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	c.NoError(c.log.Append(c.ctx, 0, data))
	there, err := c.log.Get(c.ctx, 1)
	c.NoError(err)
	c.Equal(data, there)
	c.ErrorIs(c.log.Append(c.ctx, 1, make([]byte, most+1)), storage.ErrTooLarge)
	b, err := c.log.Bounds(c.ctx)
	c.NoError(err)
	c.Equal(uint64(1), b.Last)
}

func (c *contract) marks() {
	for n := range uint64(20) {
		m := storage.Mark{Number: n, Checksum: uint32(n) * 77}
		c.NoError(c.log.SetMark(c.ctx, m))
		for _, log := range []storage.Log{c.log, c.open()} {
			there, err := log.Mark(c.ctx)
			c.NoError(err)
			c.Equal(m, there)
		}
	}
	top := storage.Mark{Number: 19, Checksum: 19 * 77}
	for _, m := range []storage.Mark{{Number: 5, Checksum: 1}, {Number: 19, Checksum: 1}} {
		c.NoError(c.open().SetMark(c.ctx, m)) // marks only rise
		there, err := c.log.Mark(c.ctx)
		c.NoError(err)
		c.Equal(top, there)
	}
	c.holds(1, 0)
}

// race checks that of several concurrent appends at one place exactly one succeeds.
func (c *contract) race() {
	logs := []storage.Log{c.log, c.open(), c.open()}
	for last := range uint64(30) {
		var wg sync.WaitGroup
		errs := make([]error, len(logs))
		for i, log := range logs {
			wg.Go(func() { errs[i] = log.Append(c.ctx, last, message(last+1)) })
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
	c.holds(1, 30)
}

func (c *contract) endOfContext() {
	c.fill(1, 2)
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	c.Error(c.log.Append(ctx, 2, message(3)))
	_, err := c.log.Get(ctx, 1)
	c.ErrorIs(err, context.Canceled)
	_, err = c.log.Bounds(ctx)
	c.ErrorIs(err, context.Canceled)
	for _, err := range c.log.Read(ctx, 1, 2) {
		c.ErrorIs(err, context.Canceled)
	}
}

// owned checks that the log shares no memory with what was passed to it, or returned.
func (c *contract) owned() {
	data := message(1)
	c.NoError(c.log.Append(c.ctx, 0, data))
	clear(data)
	there, err := c.log.Get(c.ctx, 1)
	c.NoError(err)
	clear(there)
	c.holds(1, 1)
}
