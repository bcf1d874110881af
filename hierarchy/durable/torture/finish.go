//go:build linux

package main

import (
	"context"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// finish waits until all has fired.
func (w *world) finish(ctx context.Context) error {
	w.tell("read")
	if err := w.await(ctx, idleTime, judge.IsRead); err != nil {
		return err
	}
	if setsClocks(&w.options) { // some timers of SetAt are due in an hour
		if err := sleep(ctx, 2*w.lease); err != nil { // until partitions are where they stay
			return err
		}
		w.tell(fmt.Sprint("clock ", afterAll))
	}
	w.tell("finish")
	return w.await(ctx, idleTime, judge.IsIdle)
}

// tell sends a line to all workers.
func (w *world) tell(line string) {
	for _, m := range w.all() {
		m.tell(line)
	}
}
