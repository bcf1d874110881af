package core

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// Job is a timer whose attempt is about to begin, or has ended.
type Job struct {
	Ref     state.Ref
	ID      frame.ID
	Key     []byte // the key of the timer; set when the attempt begins
	Number  uint32 // of the attempt
	Suspect bool
	begins  bool // the log must have a begin of the attempt before the attempt begins
	starts  bool // the log must have a start of the schedule's run before the attempt begins
	written bool // the log has what it must have
	Due     state.Due
	// schedule is the timer's schedule. If its text can't be parsed, Invalid is the error.
	schedule schedule.Schedule
	Invalid  error
}

// HasSchedule reports whether the job is a run of a schedule.
func (j *Job) HasSchedule() bool { return j.schedule != (schedule.Schedule{}) }

// Event is what has happened, or is about to happen, to an attempt or to a dead timer, and has to be in the log.
type Event struct {
	kind  eventKind
	Job   Job
	Of    *Attempt      // nil if the attempt was ended by its token, or by the end of its process
	Cause error         // why the attempt failed
	Last  bool          // the failed attempt was the last: the timer is dead
	again bool          // the failed attempt does not count
	wait  time.Duration // after a failed attempt: the time until the next one
	name  uint64        // left: the name of the attempt
	until int64         // left: the owner's time until which the attempt goes on
	text  []byte        // the text of Cause for the log
}

type eventKind uint8

const (
	ended   eventKind = iota // the handler has returned nil
	failed                   // the handler has failed
	begun                    // an attempt is about to begin, after its begin is in the log
	left                     // the attempt goes on, whoever owns the log
	expired                  // the timer has been dead for KeepDead
)

// Begun is the event of an attempt that begins once the event is in the log.
func Begun(j Job) Event { return Event{kind: begun, Job: j} }

// Leave returns the event of an attempt that goes on until a.Until, whoever owns the log.
func (a *Attempt) Leave() Event { return Event{kind: left, Job: a.Job, name: a.Name, until: a.Until} }

// Result returns the event of an attempt that has ended with err. It must be called without locks, as Backoff and the
// methods of err are the caller's.
func (a *Attempt) Result(cfg *Config, err error) Event {
	e := cfg.result(a.Job, err)
	e.Of = a
	return e
}

// IsBegin reports whether e is from Begun.
func (e *Event) IsBegin() bool { return e.kind == begun }
