package task

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Codec encodes tasks for durable.Config.Value: a version, the kind of the target, the timeout in nanoseconds,
// the length of the target's name, the name, and the JSON. Version 2 has fields before the JSON: a number that says which
// it is, its length, and its bytes, and after the last one a 0. A task without fields is written in version 1, so that
// servers of before version 2 read it.
type Codec struct{}

const (
	version    = 1
	withFields = 2
)

// The numbers of fields. They are in logs: never change one. They are written in this order.
const (
	noField = iota
	methodField
	headerField // the length of the name, the name, and the value; one for each header
	secretField
	attemptsField
	backoffField
	mostField
)

var (
	errShort  = errors.New("a value of the service is too short")
	errNumber = errors.New("a value of the service has a field that is no number")
)

// Append appends t to b.
func (Codec) Append(b []byte, t Task) ([]byte, error) {
	fields := !t.Hook.IsZero() || !t.Retry.IsZero()
	if b = append(b, version, byte(t.To.Kind)); fields {
		b[len(b)-2] = withFields
	}
	b = binary.AppendUvarint(b, uint64(t.Timeout))
	b = appendText(b, t.To.Name)
	if fields {
		b = append(t.appendFields(b), noField)
	}
	return append(b, t.Value...), nil
}

func (t *Task) appendFields(b []byte) []byte {
	b = appendField(b, methodField, t.Hook.Method)
	for _, h := range t.Hook.Headers {
		b = appendField(b, headerField, string(appendText(nil, h.Name))+h.Value)
	}
	b = appendField(b, secretField, t.Hook.Secret)
	for i, n := range []uint64{uint64(t.Retry.Attempts), uint64(t.Retry.Backoff), uint64(t.Retry.Most)} {
		if n != 0 {
			b = appendField(b, attemptsField+byte(i), string(binary.AppendUvarint(nil, n)))
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendField appends a field, unless it is empty.
func appendField(b []byte, field byte, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(append(b, field), text)
}

// Decode returns the task that Append has written. The task refers to b.
func (Codec) Decode(b []byte) (t Task, err error) {
	if len(b) < 2 {
		return t, errShort
	}
	of := b[0]
	if of != version && of != withFields {
		return t, fmt.Errorf("a value has version %d, and this program reads versions %d and %d", of, version, withFields)
	}
	t.To.Kind = Kind(b[1])
	if t.To.Kind < Webhook || t.To.Kind > Queue {
		return t, fmt.Errorf("a value has a target of an unknown kind, %d", b[1])
	}
	timeout, b, err := number(b[2:])
	if err != nil {
		return t, err
	}
	name, b, err := text(b)
	if err != nil {
		return t, err
	}
	t.Timeout, t.To.Name = time.Duration(timeout), name
	if of == withFields {
		b, err = t.fields(b)
	}
	t.Value = b
	return t, err
}

// fields decodes fields, and returns what follows them.
func (t *Task) fields(b []byte) (rest []byte, err error) {
	for {
		if len(b) == 0 {
			return nil, errShort
		}
		field := b[0]
		if field == noField {
			return b[1:], nil
		}
		var content string
		if content, b, err = text(b[1:]); err == nil {
			err = t.field(field, content)
		}
		if err != nil {
			return nil, err
		}
	}
}

// field sets a field.
func (t *Task) field(field byte, content string) error {
	switch field {
	case methodField:
		t.Hook.Method = content
	case headerField:
		name, value, err := text([]byte(content))
		t.Hook.Headers = append(t.Hook.Headers, Header{name, string(value)})
		return err
	case secretField:
		t.Hook.Secret = content
	case attemptsField, backoffField, mostField:
		n, rest, err := number([]byte(content))
		if err != nil || len(rest) > 0 || n > math.MaxInt64 || field == attemptsField && n > math.MaxInt32 {
			return errNumber
		}
		switch field {
		case attemptsField:
			t.Retry.Attempts = int(n)
		case backoffField:
			t.Retry.Backoff = time.Duration(n)
		case mostField:
			t.Retry.Most = time.Duration(n)
		}
	default:
		return fmt.Errorf("a value has a field that this program does not know, %d", field)
	}
	return nil
}

// text decodes a text with its length before it, and returns what follows it.
func text(b []byte) (string, []byte, error) {
	n, b, err := number(b)
	if err != nil || n > uint64(len(b)) {
		return "", nil, errShort
	}
	return string(b[:n]), b[n:], nil
}

func number(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, b[n:], nil
}
