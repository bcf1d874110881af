package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Ending ends an attempt that has a token. It belongs to an Op of the kind frame.End.
type Ending struct {
	Name    uint64
	Attempt uint32
	How     How
	In      time.Duration // Retry and Postpone: the time until the next attempt
	Text    string        // why the attempt has failed, unless it is Done
	event   Event         // what Call.Begin makes of it
}

// How tells how an attempt ends.
type How uint8

const (
	Done     How = iota
	Failed       // tried again after Backoff
	Finally      // the timer is dead
	Retry        // tried again after Ending.In
	Postpone     // the same, and the attempt does not count
	Hows         // the number of these values
)

// End returns the Ending of an attempt with a result.
func End(name uint64, attempt uint32, err error) *Ending {
	e := &Ending{Name: name, Attempt: attempt}
	if err == nil {
		return e
	}
	e.Text = string(errorText(err))
	final, later, postponed := wishes(err)
	switch {
	case postponed != nil:
		e.How, e.In = Postpone, postponed.In
	case final:
		e.How = Finally
	case later != nil:
		e.How, e.In = Retry, later.In
	default:
		e.How = Failed
	}
	return e
}

// err returns the result of the attempt.
func (e *Ending) err() error {
	err := errors.New(e.Text)
	switch e.How {
	case Done:
		return nil
	case Finally:
		return &Final{err}
	case Retry:
		return &Later{err, e.In}
	case Postpone:
		return &Postponed{err, e.In}
	}
	return err
}

// begin makes the event of an Ending of the attempt of a key.
func (e *Ending) begin(cfg *Config, key []byte) {
	e.event = cfg.result(Job{Number: e.Attempt, Key: slices.Clone(key)}, e.err())
}

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
