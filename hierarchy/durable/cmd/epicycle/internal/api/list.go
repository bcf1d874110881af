package api

import (
	"context"
	"errors"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

type listInput struct {
	Prefix string `query:"prefix" doc:"Of the keys"`
	State  string `query:"state" enum:"waiting,running,dead"`
	Limit  int    `query:"limit" default:"100" minimum:"1" maximum:"1000"`
	After  string `query:"after" doc:"The next of the page before"`
}

type listOutput struct {
	Body struct {
		Timers []Timer `json:"timers" nullable:"false"`
		Next   string  `json:"next,omitempty" doc:"The after of the next page; absent at the end"`
	}
}

func (a *API) list(ctx context.Context, in *listInput) (*listOutput, error) {
	prefix, err := a.mayPrefix(ctx, access.Read, in.Prefix)
	if err != nil {
		return nil, err
	}
	q := durable.Query{Prefix: prefix, After: in.After, Limit: in.Limit + 1}
	for _, state := range []durable.State{durable.StateWaiting, durable.StateRunning, durable.StateDead} {
		if in.State == state.String() {
			q.States = append(q.States, state)
		}
	}
	entries, err := a.Service.List(ctx, q)
	if err != nil {
		return nil, failure(err)
	}
	out := new(listOutput)
	if len(entries) > in.Limit {
		entries = entries[:in.Limit]
		out.Body.Next = entries[in.Limit-1].Key
	}
	out.Body.Timers = make([]Timer, len(entries))
	for i := range entries {
		out.Body.Timers[i] = timerOf(&entries[i])
	}
	return out, nil
}

type removeAllInput struct {
	Prefix string `query:"prefix" doc:"Of the keys. It must not be empty, unless all is true"`
	All    bool   `query:"all"`
}

type removeAllOutput struct {
	Body struct {
		Removed int `json:"removed"`
	}
}

// removeSome is the number of timers that are removed in one batch.
const removeSome = 1000

func (a *API) removeAll(ctx context.Context, in *removeAllInput) (*removeAllOutput, error) {
	role := access.Write
	if in.Prefix == "" {
		if role = access.Admin; !in.All {
			return nil, bad(errors.New("prefix is empty, and all is not true"))
		}
	}
	prefix, err := a.mayPrefix(ctx, role, in.Prefix)
	if err != nil {
		return nil, err
	}
	out := new(removeAllOutput)
	err = a.Service.Each(ctx, prefix, func(some []service.Entry) error {
		for part := range slices.Chunk(some, removeSome) {
			var b durable.Batch[string, task.Task]
			for i := range part {
				b.Remove(part[i].Key)
			}
			if err := a.Service.Batch(ctx, &b); err != nil {
				return err
			}
			for i := range part {
				if b.Took(i) {
					out.Body.Removed++
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, failure(err)
	}
	return out, nil
}
