package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// bodyLimit limits the body of a request.
type bodyLimit struct {
	size  int
	time  time.Duration // in which it must arrive
	items int           // of all arrays together, outside of the values of timers
	cost  int           // upper bound for the memory that an item takes besides its text
}

var (
	settingLimit = bodyLimit{256 << 10, 10 * time.Second, 100, 0}
	batchLimit   = bodyLimit{64 << 20, time.Minute, maxOperations, 512}
	tokensLimit  = bodyLimit{4 << 20, 10 * time.Second, maxTake, 256}
)

// decodeBody decodes the body of a request. Handlers call it when they know that the sender may send the request, since it
// takes memory and time.
func decodeBody[T any](ctx context.Context, limit bodyLimit) (*T, error) {
	c := callOf(ctx)
	text, err := c.read(limit)
	if err != nil {
		return nil, err
	}
	v := new(T)
	if len(text) == 0 {
		return nil, bad(errors.New("there is no body"))
	}
	n, err := check(text, limit.items)
	if err != nil {
		return nil, bad(err)
	}
	if !c.memory.take(len(text) + n*limit.cost) {
		return nil, errBusy
	}
	if err := decode(text, v); err != nil {
		return nil, bad(err)
	}
	return v, nil
}

// read reads the body of a request.
func (c *call) read(limit bodyLimit) ([]byte, error) {
	if c.r.ContentLength > int64(limit.size) {
		return nil, errLarge(limit)
	}
	c.pause()
	defer c.extend(c.limit)
	_ = c.control.SetReadDeadline(time.Now().Add(limit.time))
	var b []byte
	for {
		if len(b) == cap(b) {
			room := c.room(len(b), limit.size+1)
			if !c.memory.take(room - cap(b)) {
				return nil, errBusy
			}
			b = append(make([]byte, 0, room), b...)
		}
		n, err := c.r.Body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > limit.size:
			return nil, errLarge(limit)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, errBody(err)
		}
	}
}

func errLarge(limit bodyLimit) *Problem {
	return problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", limit.size))
}

// trusted is the size up to which room is made for a body before it arrives: whoever only claims to send one must not
// take the memory of those who do, on however many connections.
const trusted = 4 << 10

// room returns how large the buffer of a body should be that has n bytes already, and at most most.
func (c *call) room(n, most int) int {
	room := max(trusted, 2*n)
	if length := c.r.ContentLength; length >= 0 && length < int64(room) {
		return int(length) + 1 // the last byte is for the end, or for what should not be there
	}
	return min(room, most)
}

// errBody returns the problem for a body that can't be read.
func errBody(err error) *Problem {
	if of, ok := errors.AsType[net.Error](err); ok && of.Timeout() {
		return problem(http.StatusRequestTimeout, "the body did not arrive in time")
	}
	return bad(fmt.Errorf("the body can't be read: %w", err))
}

var errRest = errors.New("there is something after the JSON")

// decode decodes JSON that check has accepted, and refuses unknown fields and anything after the value.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var err error
	if parts, ok := v.(interface{ decodeFrom(*json.Decoder) error }); ok {
		err = parts.decodeFrom(d)
	} else {
		err = d.Decode(v)
	}
	if err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errRest
	}
	return nil
}
