package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// maxFields limits the fields of an object outside of the values of timers.
const maxFields = 100

var (
	errUTF8   = errors.New("the JSON is not UTF-8")
	errFields = fmt.Errorf("an object has more than %d fields", maxFields)
	errHalf   = errors.New(`a string has half a character: \ud800 to \udfff come in pairs`)
)

// check finds what decoding JSON would let pass: nesting that is too deep, a field that comes twice, of which the last one
// would count, too many items in all arrays together, and strings that would not come back as they were. It returns how many
// items there are. The values of timers may be any JSON, and only their nesting is limited. Text that is not JSON
// may pass, as it is not decoded.
func check(text []byte, items int) (n int, err error) {
	if !utf8.Valid(text) {
		return 0, errUTF8
	}
	c := checker{text: text, most: items}
	err = c.value(false)
	return c.items, err
}

// checker reads JSON once.
type checker struct {
	text  []byte
	at    int // the next byte
	depth int
	most  int      // items of all arrays
	items int      // so far
	names [][]byte // of the objects around the next byte, the innermost one's last
}

// next skips spaces, and returns the byte after them, or 0 at the end.
func (c *checker) next() byte {
	for ; c.at < len(c.text); c.at++ {
		if b := c.text[c.at]; b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b
		}
	}
	return 0
}

// value checks the value that comes next. raw is whether it is in the value of a timer.
func (c *checker) value(raw bool) error {
	switch c.next() {
	case '{':
		return c.nested(func() error { return c.object(raw) })
	case '[':
		return c.nested(func() error { return c.array(raw) })
	case '"':
		text := c.quoted()
		if !raw && hasHalf(text) {
			return errHalf
		}
		return nil
	}
	if n := bytes.IndexAny(c.text[c.at:], ",]} \t\r\n"); n >= 0 {
		c.at += n
	} else {
		c.at = len(c.text)
	}
	return nil
}

func (c *checker) nested(f func() error) error {
	if c.depth++; c.depth > task.MaxDepth {
		return task.ErrDeep
	}
	c.at++
	err := f()
	c.depth--
	return err
}

// quoted skips a string, and returns it with its quotes.
func (c *checker) quoted() []byte {
	begin := c.at
	for c.at++; c.at < len(c.text); c.at++ {
		switch c.text[c.at] {
		case '\\':
			c.at++
		case '"':
			c.at++
			return c.text[begin:c.at]
		}
	}
	c.at = len(c.text)
	return c.text[begin:]
}

// more skips a comma, and reports whether there is another item before the end.
func (c *checker) more(end byte) bool {
	b := c.next()
	if b == ',' {
		c.at++
		b = c.next()
	}
	if b == end {
		c.at++
	}
	return b != end && b != 0
}

func (c *checker) array(raw bool) error {
	for c.more(']') {
		if !raw {
			c.items++
		}
		if c.items > c.most {
			return fmt.Errorf("there are more than %d items", c.most)
		}
		if err := c.step(raw); err != nil {
			return err
		}
	}
	return nil
}

// step checks a value in an array or object. If there is none, the text is not JSON, and step goes to the end.
func (c *checker) step(raw bool) error {
	before := c.at
	err := c.value(raw)
	if c.at == before {
		c.at = len(c.text)
	}
	return err
}

func (c *checker) object(raw bool) error {
	outer := len(c.names)
	defer func() { c.names = c.names[:outer] }()
	for c.more('}') {
		if c.text[c.at] != '"' {
			c.at = len(c.text) // it is not JSON
			return nil
		}
		name := c.quoted()
		if c.next() == ':' {
			c.at++
		}
		if !raw {
			if err := c.add(name, outer); err != nil {
				return err
			}
		}
		if err := c.step(raw || string(name) == `"value"`); err != nil {
			return err
		}
	}
	return nil
}

// add adds a name to those of an object, which begin at outer.
func (c *checker) add(quoted []byte, outer int) error {
	name, err := fold(quoted)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(c.names[outer:], func(other []byte) bool { return bytes.Equal(other, name) }):
		return fmt.Errorf("the field %.40q comes twice", name)
	case len(c.names)-outer == maxFields:
		return errFields
	}
	c.names = append(c.names, name)
	return nil
}

// fold returns the name of a field in the form in which it is equal to all that package json takes for the same name, which
// may be in upper or lower case.
func fold(quoted []byte) ([]byte, error) {
	name := bytes.Trim(quoted, `"`)
	if !bytes.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
		return name, nil
	}
	if hasHalf(quoted) {
		return nil, errHalf
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil, nil // it is not JSON
	}
	return bytes.ToLower(bytes.ToUpper([]byte(text))), nil
}

// hasHalf reports whether a string in quotes escapes one half of a surrogate pair, which would be decoded as U+FFFD.
func hasHalf(quoted []byte) bool {
	for {
		i := bytes.IndexByte(quoted, '\\')
		if i < 0 || i+1 >= len(quoted) {
			return false
		}
		r := escaped(quoted[i:])
		if !utf16.IsSurrogate(r) {
			quoted = quoted[i+2:]
			continue
		}
		if utf16.DecodeRune(r, escaped(quoted[i+6:])) == utf8.RuneError {
			return true
		}
		quoted = quoted[i+12:]
	}
}

// escaped returns the character that a text \uXXXX begins with, or 0.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}
