package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// line is a timer as a line of JSON. It has the fields of Timer. Other fields of package durable's lines are kept
// unchanged, so that an export and an import lose nothing.
type line map[string]json.RawMessage

// renamed maps names of fields to the different names that they have in package durable's lines.
var renamed = map[string]string{"attempt": "attempts"}

// first has the fields with which a line begins.
var first = []string{"key", "value", "value_text", "to", "timeout", "retry", "due", "id", "attempt", "state"}

// maxLine is the largest size of a line.
const maxLine = 1 << 20

// isEnd reports whether a line that package durable's Export or Salvage has written is the last one, with the number of
// timers.
func isEnd(stored []byte) bool { return bytes.HasPrefix(stored, []byte(`{"timers":`)) }

// end returns the last line after n timers.
func end(n int) []byte { return fmt.Appendf(nil, "{\"timers\":%d}\n", n) }

// Line converts a line that package durable's Export or Salvage has written to a line of the service. The last line, with
// the number of timers, is the same.
func Line(stored []byte) ([]byte, error) { return lineOf(stored, true) }

// lineOf is Line. headers is whether lines have the values of headers.
func lineOf(stored []byte, headers bool) ([]byte, error) {
	if isEnd(stored) {
		return append(slices.Clone(stored), '\n'), nil
	}
	var l line
	if err := json.Unmarshal(stored, &l); err != nil {
		return nil, err
	}
	encoded, err := l.storedValue()
	if err != nil {
		return nil, err
	}
	t, err := task.Codec{}.Decode(encoded)
	if err != nil {
		return nil, err
	}
	for ours, theirs := range renamed {
		l.rename(theirs, ours)
	}
	if l["attempt"] == nil {
		l["attempt"] = json.RawMessage("0")
	}
	l.setTask(&t, headers)
	return l.encode(), nil
}

func (l line) rename(from, to string) {
	if v := l[from]; v != nil {
		l[to] = v
		delete(l, from)
	}
}

var errStored = errors.New("the value is none of the service")

// storedValue removes the value from a line of package durable, and returns it.
func (l line) storedValue() (b []byte, err error) {
	text, encoded := l["value_text"], l["value_base64"]
	delete(l, "value_text")
	delete(l, "value_base64")
	switch {
	case encoded != nil:
		err = json.Unmarshal(encoded, &b)
	case text != nil:
		var s string
		err = json.Unmarshal(text, &s)
		b = []byte(s)
	default:
		err = errStored
	}
	return b, err
}

// setTask sets the fields of a value. If the JSON of the value is not compact, the line also has it as text. A value that
// is none that can be set, but is in the log, is only there as text, or else as bytes, and can't be imported.
func (l line) setTask(t *task.Task, headers bool) {
	var compact bytes.Buffer
	value, _ := embed(t.Value)
	if value == nil || json.Compact(&compact, value) != nil {
		compact.WriteString("null")
	}
	l["value"] = compact.Bytes()
	switch {
	case !utf8.Valid(t.Value):
		l.set("value_base64", []byte(t.Value))
	case !bytes.Equal(compact.Bytes(), t.Value):
		l.set("value_text", string(t.Value))
	}
	l.set("to", targetOf(t, headers))
	l.set("timeout", t.Timeout.String())
	if retry := retryOf(&t.Retry); retry != nil {
		l.set("retry", retry)
	}
}

func (l line) set(name string, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // v is a string, a Target, a Retry or a []byte
	l[name] = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// encode returns the line, ending in a newline.
func (l line) encode() []byte {
	b := []byte{'{'}
	for _, name := range append(first, slices.DeleteFunc(slices.Sorted(maps.Keys(l)), isFirst)...) {
		if l[name] == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		quoted, _ := json.Marshal(name)
		b = append(append(append(b, quoted...), ':'), l[name]...)
	}
	return append(b, "}\n"...)
}

func isFirst(name string) bool { return slices.Contains(first, name) }

// stored converts a line of the service to a line that package durable's Import reads, and returns the key of the
// timer, too. It leaves the last line, which has no key, as it is.
func (a *API) stored(text []byte) (key string, stored []byte, err error) {
	if _, err := check(text, maxFields); err != nil {
		return "", nil, err
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return "", nil, err
	}
	if l["key"] == nil && l["timers"] != nil {
		return "", l.encode(), nil
	}
	if err := l.get("key", &key); err != nil {
		return "", nil, err
	}
	if err := task.CheckKey(key); err != nil {
		return "", nil, err
	}
	t, err := l.task()
	if err == nil {
		err = errors.Join(a.maySubject(t.To), a.hasSecret(&t.Hook))
	}
	if err != nil {
		return "", nil, err
	}
	for _, name := range []string{"value", "value_text", "to", "timeout", "retry"} {
		delete(l, name)
	}
	encoded, _ := task.Codec{}.Append(nil, t) // Append never fails
	l.set("value_base64", encoded)
	for ours, theirs := range renamed {
		l.rename(ours, theirs)
	}
	return key, l.encode(), nil
}

// task removes the value from a line, and checks it like the value of a PUT.
func (l line) task() (task.Task, error) {
	if l["value_base64"] != nil {
		return task.Task{}, errors.New("value_base64: the value is not JSON")
	}
	s := Setting{Value: l["value"]}
	if l["value_text"] != nil {
		var text string
		if err := l.get("value_text", &text); err != nil {
			return task.Task{}, err
		}
		if s.Value = json.RawMessage(text); !json.Valid(s.Value) {
			return task.Task{}, errors.New("value_text is not JSON")
		}
	}
	if err := l.get("timeout", &s.Timeout); err != nil {
		return task.Task{}, err
	}
	if err := l.get("to", &s.To); err != nil {
		return task.Task{}, err
	}
	if err := l.get("retry", &s.Retry); err != nil {
		return task.Task{}, err
	}
	return s.task()
}

// get decodes a field that may be absent.
func (l line) get(name string, v any) error {
	if l[name] == nil {
		return nil
	}
	if err := decode(l[name], v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
