package storage

import "strings"

// prefix begins the texts of errors that package durable exports.
const prefix = "durable: "

// In adds the place where an error occurred to its text, after the prefix: "durable: partition 3: the log is damaged".
func In(where string, err error) error { return &inPlace{where, err} }

type inPlace struct {
	where string
	err   error
}

func (e *inPlace) Error() string {
	text, ours := strings.CutPrefix(e.err.Error(), prefix)
	text = e.where + ": " + text
	if ours {
		text = prefix + text
	}
	return text
}

func (e *inPlace) Unwrap() error { return e.err }

// Because returns an error that wraps both kind and cause. Its text has the prefix only once.
func Because(kind, cause error) error { return &because{kind, cause} }

type because struct{ kind, cause error }

func (e *because) Error() string {
	return e.kind.Error() + ": " + strings.TrimPrefix(e.cause.Error(), prefix)
}

func (e *because) Unwrap() []error { return []error{e.kind, e.cause} }
