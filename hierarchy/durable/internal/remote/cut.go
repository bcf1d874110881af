package remote

import "encoding/binary"

// cutter reads numbers and bytes off a message. After a failure it reads zeros.
type cutter struct {
	b      []byte
	failed bool
}

func (c *cutter) fail() { c.failed, c.b = true, nil }

func (c *cutter) byte() byte {
	if len(c.b) == 0 {
		c.fail()
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cutter) fixed() uint64 {
	if len(c.b) < 8 {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	return v
}

func (c *cutter) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cutter) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

// bytes shares the memory of the message.
func (c *cutter) bytes() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.fail()
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// count is a number of things that follow, each of which takes some bytes at least.
func (c *cutter) count(each int) int {
	n := c.uvarint()
	if n > uint64(len(c.b)/each) {
		c.fail()
		return 0
	}
	return int(n)
}

// end is an error unless all was read, and could be.
func (c *cutter) end() error {
	if c.failed || len(c.b) > 0 {
		return errMessage
	}
	return nil
}

func appendBytes[T string | []byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
