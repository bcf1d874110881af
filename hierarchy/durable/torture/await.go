//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// await waits until all workers have written a record of that kind.
func (w *world) await(ctx context.Context, limit time.Duration, kind string) error {
	end := time.Now().Add(limit)
	for {
		missing := 0
		for _, m := range w.all() {
			if !wrote(m.path, kind) {
				missing = m.number
			}
		}
		if missing == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("worker %d is not %s within %v: see worker-%d.txt", missing, kind, limit, missing)
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// wrote tells whether there is a record of that kind.
func wrote(path, kind string) bool {
	all, err := readRecords(path)
	if err != nil {
		return false
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			return true
		}
	}
	return false
}
