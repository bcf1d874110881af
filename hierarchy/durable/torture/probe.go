//go:build linux

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

const (
	probeEvery = 50 * time.Millisecond
	probeLate  = 200 * time.Millisecond
)

// probe looks for such times until it is told to end.
func (w *world) probe() (end func()) {
	f, err := os.Create(filepath.Join(w.dir, "probe"))
	if err != nil {
		w.broke("the disk can't be watched: %v", err)
		return func() {}
	}
	from := mono()
	stop := repeat(func(func(time.Duration) bool) bool {
		_, _ = f.WriteAt([]byte("probe"), 0)
		_ = f.Sync()
		now := mono()
		if now-from > int64(probeEvery+probeLate) {
			w.mu.Lock()
			w.happen = append(w.happen, judge.Event{Fault: judge.BusyMachine, From: from, To: now})
			w.mu.Unlock()
		}
		from = now
		return true
	}, probeEvery)
	return func() { stop(); f.Close() }
}
