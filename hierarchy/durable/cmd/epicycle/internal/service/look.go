package service

import (
	"context"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Entry is a timer of a service as it is at the moment.
type Entry = durable.Entry[string, task.Task]

// eachSome is the number of timers that Each reads at a time.
const eachSome = 10000

// Each calls f with the timers whose keys have a prefix, some at a time.
func (s *Service) Each(ctx context.Context, prefix string, f func([]Entry) error) error {
	q := durable.Query{Prefix: prefix, Limit: eachSome}
	for {
		some, err := s.List(ctx, q)
		if err != nil || len(some) == 0 {
			return err
		}
		if err := f(some); err != nil || len(some) < eachSome {
			return err
		}
		q.After = some[len(some)-1].Key
	}
}
