package task

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Codec encodes tasks for durable.Config.Value: a version, the kind of the target, the timeout in nanoseconds,
// the length of the target's name, the name, and the JSON.
type Codec struct{}

const version = 1

var errShort = errors.New("a value of the service is too short")

// Append appends t to b.
func (Codec) Append(b []byte, t Task) ([]byte, error) {
	b = append(b, version, byte(t.To.Kind))
	b = binary.AppendUvarint(b, uint64(t.Timeout))
	b = binary.AppendUvarint(b, uint64(len(t.To.Name)))
	b = append(b, t.To.Name...)
	return append(b, t.Value...), nil
}

// Decode returns the task that Append has written. The task refers to b.
func (Codec) Decode(b []byte) (t Task, err error) {
	if len(b) < 2 {
		return t, errShort
	}
	if b[0] != version {
		return t, fmt.Errorf("a value has version %d, and this program reads version %d", b[0], version)
	}
	t.To.Kind = Kind(b[1])
	if t.To.Kind < Webhook || t.To.Kind > Queue {
		return t, fmt.Errorf("a value has a target of an unknown kind, %d", b[1])
	}
	timeout, b, err := number(b[2:])
	if err != nil {
		return t, err
	}
	n, b, err := number(b)
	if err != nil || n > uint64(len(b)) {
		return t, errShort
	}
	t.Timeout, t.To.Name, t.Value = time.Duration(timeout), string(b[:n]), b[n:]
	return t, nil
}

func number(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, b[n:], nil
}
