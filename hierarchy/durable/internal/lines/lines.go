// Package lines is timers as lines of JSON: what Export and the command salvage write, and Import reads.
package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"
)

// The states of a timer.
const (
	Waiting = "waiting"
	Running = "running" // an attempt is under way
	Dead    = "dead"
)

// Timer is a timer. Of a key, one of two fields is there, and of a value, one of three: as JSON if its bytes are compact
// JSON, as a string if they are other text, else as base64.
type Timer struct {
	Key         *string         `json:"key,omitempty"`
	KeyBase64   *[]byte         `json:"key_base64,omitempty"`
	Value       json.RawMessage `json:"value,omitempty"`
	ValueText   *string         `json:"value_text,omitempty"`
	ValueBase64 *[]byte         `json:"value_base64,omitempty"`
	ID          string          `json:"id"`
	Due         time.Time       `json:"due"`
	WallTime    bool            `json:"wall_time,omitempty"` // due is compared with the wall clock
	Attempts    uint32          `json:"attempts,omitempty"`
	Next        *time.Time      `json:"next,omitempty"` // when the next attempt is due, after one that has failed
	State       string          `json:"state"`
	Schedule    string          `json:"schedule,omitempty"`
	Missed      uint32          `json:"missed,omitempty"`
	Started     bool            `json:"started,omitempty"` // an attempt of this run of the schedule has begun
	LastError   []byte          `json:"last_error_base64,omitempty"`
	Error       string          `json:"last_error,omitempty"`
	Died        *time.Time      `json:"died,omitempty"`
	Trace       []byte          `json:"trace,omitempty"`
}

// NewEncoder returns an encoder that writes timers as Parse reads them. Another one would change values that are JSON.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// SetKey sets the key.
func (t *Timer) SetKey(b []byte) {
	if utf8.Valid(b) {
		s := string(b)
		t.Key = &s
	} else {
		t.KeyBase64 = &b
	}
}

// SetValue sets the value.
func (t *Timer) SetValue(b []byte) {
	switch {
	case !utf8.Valid(b):
		t.ValueBase64 = &b
	case isCompact(b):
		t.Value = b
	default:
		s := string(b)
		t.ValueText = &s
	}
}

// isCompact reports whether b is JSON that stays as it is in a line.
func isCompact(b []byte) bool {
	var c bytes.Buffer
	return json.Compact(&c, b) == nil && bytes.Equal(c.Bytes(), b)
}

// SetError sets the last error.
func (t *Timer) SetError(s string) {
	if utf8.ValidString(s) {
		t.Error = s
	} else {
		t.LastError = []byte(s)
	}
}

// GetError returns the last error.
func (t *Timer) GetError() string {
	if len(t.LastError) > 0 {
		return string(t.LastError)
	}
	return t.Error
}

var (
	errKey   = errors.New("there must be one of key and key_base64")
	errValue = errors.New("there must be one of value, value_text and value_base64")
	errUTF8  = errors.New("the line is not UTF-8")
	errState = errors.New(`the state must be "waiting", "running" or "dead"`)
)

// Parse reads a line. Fields that it does not know are ignored.
func Parse(line []byte) (t *Timer, key, value []byte, err error) {
	t = new(Timer)
	if !utf8.Valid(line) { // encoding/json would replace what is none
		return nil, nil, nil, errUTF8
	}
	if err := json.Unmarshal(line, t); err != nil {
		return nil, nil, nil, err
	}
	switch {
	case (t.Key == nil) == (t.KeyBase64 == nil):
		return nil, nil, nil, errKey
	case t.Key != nil:
		key = []byte(*t.Key)
	default:
		key = *t.KeyBase64
	}
	n := 0
	if t.Value != nil {
		n, value = n+1, t.Value
	}
	if t.ValueText != nil {
		n, value = n+1, []byte(*t.ValueText)
	}
	if t.ValueBase64 != nil {
		n, value = n+1, *t.ValueBase64
	}
	switch {
	case n != 1:
		err = errValue
	case t.State != Waiting && t.State != Running && t.State != Dead:
		err = errState
	}
	return t, key, value, err
}
