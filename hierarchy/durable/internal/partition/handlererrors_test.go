package partition

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// oddError is an error whose methods panic for a nil pointer, which is a common mistake.
type oddError struct{ cause error }

func (e *oddError) Error() string { return e.cause.Error() }
func (e *oddError) Unwrap() error { return e.cause }

// An error without a text ends the attempt like any other.
func TestErrorsWithoutAText(t *testing.T) {
	for name, err := range map[string]error{
		"Dead(nil)":       &core.Final{},
		"RetryAfter(nil)": &core.Later{In: time.Second},
		"nil pointer":     (*oddError)(nil),
		"nil cause":       &oddError{},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			died := make(chan error, 1)
			b.cfg.OnDead = func(_ core.Firing, last error) { died <- last }
			b.handle = func(context.Context, core.Firing) error { return err }
			b.open()
			b.set("a", "1", 0)
			b.mock.Add(time.Minute)
			b.Len(b.keys(true), 1)
			b.True(err == <-died)
			b.NoError(b.p.All(true, func(t state.Timer) bool {
				b.NotEmpty(t.LastError)
				return true
			}))
			b.reopen()
			b.Len(b.keys(true), 1)
		})
	}
	b := newBench(t)
	b.NotEmpty((&core.Final{}).Error())
	b.NotEmpty((&core.Later{}).Error())
	b.Nil(errors.Unwrap(&core.Final{}))
}
