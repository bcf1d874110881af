package core

import (
	"errors"
	"slices"
	"time"
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
