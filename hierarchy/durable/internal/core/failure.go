package core

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Final is the error of an attempt after which the timer is dead.
type Final struct{ Err error }

func (f *Final) Error() string { return textOf(f.Err) }
func (f *Final) Unwrap() error { return f.Err }

// Later is the error of an attempt. It sets the time until the next attempt is due, instead of Backoff.
type Later struct {
	Err error
	In  time.Duration
}

func (l *Later) Error() string { return textOf(l.Err) }
func (l *Later) Unwrap() error { return l.Err }

// Postponed is the error of an attempt that does not count. The next attempt has the same number, and is due after In.
type Postponed struct {
	Err error
	In  time.Duration
}

func (p *Postponed) Error() string { return textOf(p.Err) }
func (p *Postponed) Unwrap() error { return p.Err }

// result returns the event of an attempt that has ended with err, as Attempt.Result does.
func (cfg *Config) result(j Job, err error) Event {
	if err == nil {
		return Event{kind: ended, Job: j}
	}
	e := Event{kind: failed, Job: j, Cause: err}
	final, later, postponed := wishes(err)
	switch {
	case postponed != nil:
		e.again, e.wait = true, max(0, postponed.In)
		return e
	case final:
		e.Last = true
	case later != nil:
		e.wait = max(0, later.In)
	default:
		e.wait = cfg.Backoff(int(j.Number))
	}
	e.Last, e.text = e.Last || cfg.isLast(j.Number), errorText(err)
	return e
}

// wishes reports whether an error is a Final and, if it is a Later or a Postponed, returns that. An error whose Unwrap
// panics counts as none of them.
func wishes(err error) (final bool, later *Later, postponed *Postponed) {
	defer func() {
		if recover() != nil {
			final, later, postponed = false, nil, nil
		}
	}()
	if errors.As(err, &postponed) {
		return false, nil, postponed
	}
	if f := (*Final)(nil); errors.As(err, &f) {
		return true, nil, nil
	}
	errors.As(err, &later)
	return false, later, nil
}

// MaxError is the largest number of bytes of an error's text that are written to the log.
const MaxError = 1 << 10

// errorText returns the text of an error for the log, which is not empty. It must be called without locks, as the error
// is a handler's, whose methods may do anything.
func errorText(err error) []byte {
	text := strings.ToValidUTF8(cmp.Or(textOf(err), "an error without a text"), "\uFFFD")
	if len(text) > MaxError {
		n := MaxError
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return []byte(text)
}

// textOf returns the text of an error. The error may be nil, and its method Error may panic.
func textOf(err error) string {
	if err == nil {
		return "there is no error"
	}
	return fmt.Sprint(err)
}
