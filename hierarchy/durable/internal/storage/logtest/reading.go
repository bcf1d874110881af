package logtest

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

func (c *contract) read() {
	c.fill(1, 10)
	var got []string
	for data, err := range c.log.Read(c.ctx, 4, 8) {
		c.NoError(err)
		if got = append(got, string(data)); len(got) == 3 {
			break // the rest is not needed
		}
	}
	c.Equal([]string{"message 4", "message 5", "message 6"}, got)
	n := 0
	var last error
	for _, err := range c.log.Read(c.ctx, 9, 12) {
		n, last = n+1, err
	}
	c.Equal(3, n)
	c.ErrorIs(last, storage.ErrAbsent)
}

// readMuch reads more than one portion.
func (c *contract) readMuch() {
	const n = 300
	data := make([]byte, 100<<10)
	for i := range n {
		data[0], data[1] = byte(i), byte(i>>8)
		c.NoError(c.log.Append(c.ctx, uint64(i), data))
	}
	i := 0
	for there, err := range c.log.Read(c.ctx, 1, n) {
		c.NoError(err)
		c.Len(there, len(data))
		c.Equal(i, int(there[0])|int(there[1])<<8)
		i++
	}
	c.Equal(n, i)
}

func (c *contract) trim() {
	c.fill(1, 10)
	c.NoError(c.log.Trim(c.ctx, 1))
	c.holds(1, 10)
	c.NoError(c.log.Trim(c.ctx, 7))
	c.holds(7, 10)
	c.NoError(c.log.Trim(c.ctx, 4))
	c.holds(7, 10)
	c.onlyAbsent(6, 8)
	c.fill(11, 12)
	c.holds(7, 12)
}

// trimAll checks that the log continues after the last number when all messages were deleted.
func (c *contract) trimAll() {
	c.fill(1, 5)
	c.NoError(c.log.Trim(c.ctx, 6))
	c.holds(6, 5)
	c.ErrorIs(c.log.Append(c.ctx, 0, message(1)), storage.ErrRefused)
	c.fill(6, 6)
	c.holds(6, 6)
}
