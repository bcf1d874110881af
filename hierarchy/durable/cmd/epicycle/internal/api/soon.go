package api

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

// soonTime is an upper bound for the duration of an answer.
const soonTime = 5 * time.Minute

// soon helps to answer requests that make a timer due soon: the timer may have ended by the time of the answer.
type soon struct{ watch *service.Watch }

func (a *API) soon(key string, in time.Duration) (s soon) {
	if in < soonTime {
		s.watch = a.Service.Watch(key)
	}
	return s
}

func (s soon) stop() {
	if s.watch != nil {
		s.watch.Stop()
	}
}

// ended returns the entry of a timer that has ended, as it was when it was due. If another server has fired the timer,
// this server does not know the timer's ID.
func (s soon) ended(e service.Entry) service.Entry {
	e.State = durable.StateWaiting
	if s.watch == nil {
		return e
	}
	if f, ok := s.watch.Last(); ok {
		e.Due, e.ID, e.Value = f.Due, f.ID, f.Value
	}
	return e
}
