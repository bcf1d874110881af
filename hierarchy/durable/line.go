package durable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"
)

// line is a timer as Export and Salvage write it, and Import reads it: a line of JSON. After the timers comes a last
// line with their number, by which Import notices that lines are missing. The key is in one of two fields,
// the value in one of three: as JSON if its bytes are JSON as Go writes it, as a string if they are other text, otherwise as
// base64.
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
	Next        *time.Time      `json:"next,omitempty"` // when the next attempt is due, after one that failed or was postponed
	State       string          `json:"state"`
	Schedule    string          `json:"schedule,omitempty"`
	Missed      uint32          `json:"missed,omitempty"`
	Started     bool            `json:"started,omitempty"` // an attempt of this run of the schedule has begun
	LastError   []byte          `json:"last_error_base64,omitempty"`
	Error       string          `json:"last_error,omitempty"`
	Failed      *time.Time      `json:"last_error_at,omitempty"` // when an attempt failed with that error, or the timer died
	Trace       []byte          `json:"trace,omitempty"`
	Debounced   *time.Time      `json:"debounced_since,omitempty"` // of a timer of SetDebounced: the first call of the run
	Paused      bool            `json:"paused,omitempty"`          // of a timer with a schedule
	Timers      *int            `json:"timers,omitempty"`          // the last line has only this: the number of lines before it
}

// newLineEncoder returns an encoder that writes timers as parseLine reads them. The default settings would escape
// characters in values that are JSON.
func newLineEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// writeEnd writes the last line, after n timers.
func writeEnd(w io.Writer, n int) error {
	_, err := fmt.Fprintf(w, "{\"timers\":%d}\n", n)
	return err
}

func (l *line) setKey(b []byte) {
	if utf8.Valid(b) {
		s := string(b)
		l.Key = &s
	} else {
		l.KeyBase64 = &b
	}
}

func (l *line) setValue(b []byte) {
	switch {
	case !utf8.Valid(b):
		l.ValueBase64 = &b
	case isAsEncoded(b):
		l.Value = b
	default:
		s := string(b)
		l.ValueText = &s
	}
}

// isAsEncoded reports whether b is JSON that encoding it in a line does not change. It must be compact. What else is
// changed differs from version to version of Go: 1.27 escapes U+2028, whatever SetEscapeHTML says.
func isAsEncoded(b []byte) bool {
	var c bytes.Buffer
	return newLineEncoder(&c).Encode(json.RawMessage(b)) == nil && bytes.Equal(bytes.TrimSuffix(c.Bytes(), []byte("\n")), b)
}

func (l *line) setError(s string) {
	if utf8.ValidString(s) {
		l.Error = s
	} else {
		l.LastError = []byte(s)
	}
}

func (l *line) getError() string { return cmp.Or(string(l.LastError), l.Error) }

var (
	errKey    = errors.New("there must be one of key and key_base64")
	errValue  = errors.New("there must be one of value, value_text and value_base64")
	errUTF8   = errors.New("the line is not UTF-8")
	errEnd    = errors.New("a line with the number of timers has nothing else")
	errPaused = errors.New("only a timer with a schedule, which is not dead, is paused")
	errState  = errors.New(`the state must be "waiting", "running" or "dead"`)
)

// parseLine reads a line. It ignores fields that it does not know.
func parseLine(b []byte) (l *line, key, value []byte, err error) {
	l = new(line)
	if !utf8.Valid(b) { // encoding/json would replace invalid UTF-8
		return nil, nil, nil, errUTF8
	}
	if err := json.Unmarshal(b, l); err != nil {
		return nil, nil, nil, err
	}
	keys, values := 0, 0
	if l.Key != nil {
		keys, key = keys+1, []byte(*l.Key)
	}
	if l.KeyBase64 != nil {
		keys, key = keys+1, *l.KeyBase64
	}
	if l.Value != nil {
		values, value = values+1, l.Value
	}
	if l.ValueText != nil {
		values, value = values+1, []byte(*l.ValueText)
	}
	if l.ValueBase64 != nil {
		values, value = values+1, *l.ValueBase64
	}
	switch {
	case l.Timers != nil && keys+values > 0:
		err = errEnd
	case l.Timers != nil:
	case keys != 1:
		err = errKey
	case values != 1:
		err = errValue
	case !slices.Contains([]string{StateWaiting.String(), StateRunning.String(), StateDead.String()}, l.State):
		err = errState
	case l.Paused && (l.Schedule == "" || l.State == StateDead.String()):
		err = errPaused
	}
	return l, key, value, err
}
