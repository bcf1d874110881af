package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Target is where a timer is delivered when it is due: exactly one of Webhook, Subject and Queue is set.
type Target struct {
	Webhook string `json:"webhook,omitempty" doc:"A URL that gets a request" example:"https://example.com/cancel"`
	Subject string `json:"subject,omitempty" doc:"A subject of NATS" example:"orders.cancel"`
	Queue   string `json:"queue,omitempty" doc:"A queue, from which it is taken" example:"mails"`
	Hook
	Timeout string `json:"timeout,omitempty" doc:"In requests: the timeout of the timer, if that is not beside to"`
	Retry   *Retry `json:"retry,omitempty" doc:"In requests: the retry of the timer, if that is not beside to"`
}

// Timer is a timer in answers.
type Timer struct {
	Key      string          `json:"key" example:"order-17"`
	Value    json.RawMessage `json:"value"`
	Text     string          `json:"value_text,omitempty" doc:"The value as text, if value is null because JSON can't have it: it is nested too deep"`
	To       Target          `json:"to"`
	Timeout  string          `json:"timeout" doc:"Of an attempt, as Go writes durations" example:"30s"`
	Retry    *Retry          `json:"retry,omitempty" doc:"What of the retries is not as the server has it"`
	Due      time.Time       `json:"due"`
	ID       string          `json:"id" doc:"The same at each attempt, and never that of another timer"`
	Attempt  int             `json:"attempt" doc:"How many attempts have begun"`
	State    string          `json:"state" enum:"waiting,running,dead"`
	Schedule string          `json:"schedule,omitempty"`
	Paused   bool            `json:"paused,omitempty" doc:"The schedule is paused: no attempt begins"`
	// LastFailed and Next are pointers, so that they can be omitted.
	LastError  string     `json:"last_error,omitempty" doc:"Why the last attempt that has failed did so, since the timer was set, moved or revived; with a schedule, since a run has succeeded"`
	LastFailed *time.Time `json:"last_error_at,omitempty" doc:"When that attempt failed"`
	Next       *time.Time `json:"next,omitempty" doc:"When the next attempt is due, after one that has failed"`
	LimitedBy  string     `json:"limited_by,omitempty" doc:"Of GET: the limit because of which it waits, although it is due" example:"queue mails"`
	Attempts   []Attempt  `json:"attempts,omitempty" nullable:"false" maxItems:"5" doc:"Of GET: the last attempts, the last one first, as far as the server that has the timer remembers them: it does from its start, and since it has the timer"`
}

// Attempt is an attempt that has ended.
type Attempt struct {
	At     time.Time `json:"at" doc:"When it began"`
	Took   string    `json:"took" doc:"How long it took, as Go writes durations" example:"31ms"`
	Status int       `json:"status,omitempty" doc:"The status with which the webhook answered" example:"503"`
	Error  string    `json:"error,omitempty" doc:"Why it has failed, shortened to 160 bytes; absent if it has succeeded"`
}

// Setting is the body of a request to set a timer.
type Setting struct {
	Value json.RawMessage `json:"value,omitempty" doc:"Any JSON, up to 60 KiB; null if it is left out"`
	When
	To      *Target `json:"to"`
	Timeout string  `json:"timeout,omitempty" doc:"Of an attempt, as Go writes durations; 30s by default" example:"30s"`
	Retry   *Retry  `json:"retry,omitempty" doc:"How often it is tried; each field can be left out"`
}

// Moving is the body of a request to move a timer, or to pause or resume it: exactly one field is set.
type Moving struct {
	In string `json:"in,omitempty" doc:"A duration from now, as Go writes it" example:"30m"`
	At string `json:"at,omitempty" doc:"A time, as RFC 3339 has it" example:"2030-01-31T12:00:00Z"`
	// Paused is a pointer, so that it can be left out.
	Paused *bool `json:"paused,omitempty" doc:"Of a timer with a schedule: no attempt begins until it is false again. What falls due meanwhile is not made up for"`
}

// task returns the value of the timer to be set.
func (s *Setting) task() (t task.Task, err error) {
	if t.Value = s.Value; len(t.Value) == 0 {
		t.Value = json.RawMessage("null")
	}
	if len(t.Value) > task.MaxValue {
		return t, problem(http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the value has %d bytes, of at most %d", len(t.Value), task.MaxValue))
	}
	if err := task.CheckValue(t.Value); err != nil {
		return t, err
	}
	if t.To, err = s.To.parse(); err != nil {
		return t, err
	}
	if t.Hook, err = s.To.Hook.parse(t.To.Kind); err != nil {
		return t, err
	}
	if err := s.attempts(&t); err != nil {
		return t, err
	}
	return t, checkSize(&t)
}

var errTwice = errors.New("timeout and retry are those of to, or beside it, and not both")

// attempts sets what a task has for its attempts.
func (s *Setting) attempts(t *task.Task) (err error) {
	if s.Timeout != "" && s.To.Timeout != "" || s.Retry != nil && s.To.Retry != nil {
		return errTwice
	}
	t.Timeout = task.DefaultTimeout
	if text := cmp.Or(s.Timeout, s.To.Timeout); text != "" {
		if t.Timeout, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("timeout: %.40q is not a duration such as 30s", text)
		}
		if err := task.CheckTimeout(t.Timeout); err != nil {
			return err
		}
	}
	t.Retry, err = cmp.Or(s.Retry, s.To.Retry).parse()
	return err
}

// checkSize returns an error if a task is larger than a timer can have, which the value alone is not.
func checkSize(t *task.Task) error {
	if t.Hook.IsZero() {
		return nil
	}
	b, _ := task.Codec{}.Append(nil, *t) // Append never fails
	if len(b) > task.MaxTask {
		return problem(http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the value and what else the timer has take %d bytes, of at most %d", len(b), task.MaxTask))
	}
	return nil
}

// parse returns the target, or an error unless there is exactly one.
func (to *Target) parse() (t task.Target, err error) {
	if to == nil {
		return t, errTarget
	}
	n := 0
	for kind, name := range map[task.Kind]string{task.Webhook: to.Webhook, task.Subject: to.Subject, task.Queue: to.Queue} {
		if name != "" {
			n++
			t = task.Target{Kind: kind, Name: name}
		}
	}
	if n != 1 {
		return t, errTarget
	}
	return t, t.Check()
}

var errTarget = errors.New("to: there must be exactly one of webhook, subject and queue")

// embed returns a value as JSON for an answer. A value that would spoil the whole answer, with all other values in it, is
// returned as text. None can be set, but a log has what was written into it.
func embed(value []byte) (whole json.RawMessage, text string) {
	if task.CheckValue(value) != nil || !json.Valid(value) {
		return nil, string(value)
	}
	return value, ""
}

// targetOf returns the target of a task as it is in answers. values is whether these have the values of headers.
func targetOf(t *task.Task, values bool) (to Target) {
	switch t.To.Kind {
	case task.Webhook:
		to.Webhook = t.To.Name
	case task.Subject:
		to.Subject = t.To.Name
	case task.Queue:
		to.Queue = t.To.Name
	}
	to.Hook = hookOf(&t.Hook, values)
	return to
}
