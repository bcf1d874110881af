package schedule

import (
	"fmt"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// A word is a part of the text without spaces, or an item within one.
type word struct {
	text string
	at   int // the index at which the word begins in the text
}

// split returns the words of text.
func split(text string) (words []word) {
	at := 0
	for field := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], field)
		words = append(words, word{field, at})
		at += len(field)
	}
	return words
}

// cut returns the parts of w around the first sep, as strings.Cut does.
func (w word) cut(sep string) (before, after word, found bool) {
	head, tail, found := strings.Cut(w.text, sep)
	return word{head, w.at}, word{tail, w.at + len(w.text) - len(tail)}, found
}

func (w word) quoted() string { return fmt.Sprintf("%.40q", w.text) }

// wrong returns an error about w, which is a field of that name, or a part of one.
func (w word) wrong(field, problem string) *textError {
	return &textError{field: field, column: w.at + 1, problem: problem}
}

// A textError describes what is wrong in the text of a schedule.
type textError struct {
	text    string
	field   string // the name of the field, or ""
	column  int    // in bytes from 1, or 0
	problem string
	cause   error // or nil
}

func (e *textError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule: %.80q: ", e.text)
	if e.field != "" {
		b.WriteString(e.field + ", ")
	}
	if e.column > 0 {
		fmt.Fprintf(&b, "column %d: ", e.column)
	}
	b.WriteString(e.problem)
	if e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	return b.String()
}

func (e *textError) Unwrap() []error {
	if e.cause == nil {
		return []error{hierarchy.ErrArgument}
	}
	return []error{hierarchy.ErrArgument, e.cause}
}
