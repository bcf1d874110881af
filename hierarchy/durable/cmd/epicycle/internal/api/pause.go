package api

import (
	"context"
	"net/http"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

var (
	errNotPaused = problem(http.StatusConflict, "only a timer with a schedule, which is not dead, is paused and resumed")
	errNoRun     = problem(http.StatusNotFound, "the schedule had no further run, so the timer has ended")
)

// pause pauses or resumes the schedule of a timer, and returns the timer as it is then.
func (a *API) pause(ctx context.Context, key string, paused bool) (*timerOutput, error) {
	do, kind := a.Service.Resume, service.EventResumed
	if paused {
		do, kind = a.Service.Pause, service.EventPaused
	}
	took, err := do(ctx, key)
	if err != nil {
		return nil, failure(err)
	}
	e, ok, err := a.Service.Lookup(ctx, key)
	a.tell(kind, &service.Entry{Key: key, ID: e.ID}, took)
	absent := errNoTimer
	switch {
	case took:
		absent = errNoRun
	case ok && err == nil:
		return nil, errNotPaused
	}
	return answer(&e, ok, err, absent, true)
}
