package api

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

type removeAllInput struct {
	Prefix string `query:"prefix" doc:"Of the keys. It must not be empty, unless all is true"`
	All    bool   `query:"all"`
}

// Removed is the answer to a request to remove many timers.
type Removed struct {
	Removed int  `json:"removed"`
	More    bool `json:"more,omitempty" doc:"The time was too short for all: do it again"`
}

type removeAllOutput struct{ Body Removed }

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
	if out.Body, err = a.removePrefix(ctx, prefix, callOf(ctx).partly()); err != nil {
		return nil, failure(err)
	}
	return out, nil
}

// removePrefix removes the timers whose keys have a prefix, some at a time, at least until a time.
func (a *API) removePrefix(ctx context.Context, prefix string, until time.Time) (r Removed, err error) {
	var b durable.Batch[string, task.Task]
	var some []service.Entry // without their values
	size := 0
	flush := func() error {
		if err := a.Service.Batch(ctx, &b); err != nil {
			return err
		}
		for i := range b.Len() {
			if b.Took(i) {
				r.Removed++
			}
			a.tell(service.EventRemoved, &some[i], b.Took(i))
		}
		b.Reset()
		some, size = some[:0], 0
		return nil
	}
	for e, err := range a.Service.Scan(ctx, durable.Query{Prefix: prefix}) {
		bytes := operationBytes + len(e.Key)
		if err == nil && (b.Len() == removeSome || size+bytes > someBytes) {
			err = flush()
			r.More = !time.Now().Before(until)
		}
		if err != nil || r.More {
			return r, err
		}
		b.Remove(e.Key)
		some = append(some, service.Entry{Key: e.Key, ID: e.ID})
		size += bytes
	}
	return r, flush()
}
