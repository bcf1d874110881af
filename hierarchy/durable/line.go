package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"
)

// line is a timer as Export and Salvage write it, and Import reads it: a line of JSON. Of a key, one of two fields is there, and of a value, one of three: as JSON if its bytes are compact
// JSON, as a string if they are other text, else as base64.
type line struct {
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

// newLineEncoder returns an encoder that writes timers as parseLine reads them. Another one would change values that are JSON.
func newLineEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// SetKey sets the key.
func (l *line) SetKey(b []byte) {
	if utf8.Valid(b) {
		s := string(b)
		l.Key = &s
	} else {
		l.KeyBase64 = &b
	}
}

// SetValue sets the value.
func (l *line) SetValue(b []byte) {
	switch {
	case !utf8.Valid(b):
		l.ValueBase64 = &b
	case isCompact(b):
		l.Value = b
	default:
		s := string(b)
		l.ValueText = &s
	}
}

// isCompact reports whether b is JSON that stays as it is in a line.
func isCompact(b []byte) bool {
	var c bytes.Buffer
	return json.Compact(&c, b) == nil && bytes.Equal(c.Bytes(), b)
}

// SetError sets the last error.
func (l *line) SetError(s string) {
	if utf8.ValidString(s) {
		l.Error = s
	} else {
		l.LastError = []byte(s)
	}
}

// GetError returns the last error.
func (l *line) GetError() string {
	if len(l.LastError) > 0 {
		return string(l.LastError)
	}
	return l.Error
}

var (
	errKey   = errors.New("there must be one of key and key_base64")
	errValue = errors.New("there must be one of value, value_text and value_base64")
	errUTF8  = errors.New("the line is not UTF-8")
	errState = errors.New(`the state must be "waiting", "running" or "dead"`)
)

// parseLine reads a line. Fields that it does not know are ignored.
func parseLine(b []byte) (l *line, key, value []byte, err error) {
	l = new(line)
	if !utf8.Valid(b) { // encoding/json would replace what is none
		return nil, nil, nil, errUTF8
	}
	if err := json.Unmarshal(b, l); err != nil {
		return nil, nil, nil, err
	}
	switch {
	case (l.Key == nil) == (l.KeyBase64 == nil):
		return nil, nil, nil, errKey
	case l.Key != nil:
		key = []byte(*l.Key)
	default:
		key = *l.KeyBase64
	}
	n := 0
	if l.Value != nil {
		n, value = n+1, l.Value
	}
	if l.ValueText != nil {
		n, value = n+1, []byte(*l.ValueText)
	}
	if l.ValueBase64 != nil {
		n, value = n+1, *l.ValueBase64
	}
	switch {
	case n != 1:
		err = errValue
	case l.State != StateWaiting.String() && l.State != StateRunning.String() && l.State != StateDead.String():
		err = errState
	}
	return l, key, value, err
}
