package service

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// inbox holds announcements that route has not passed on yet.
type inbox struct {
	mu     sync.Mutex
	due    []announced
	closed bool
	signal chan struct{} // of capacity 1
}

type announced struct {
	key  string
	id   durable.ID
	at   time.Time
	to   task.Target
	over bool // it has had all its attempts
	// withdrawn is set if the timer does not wait any more.
	withdrawn bool
}

// put adds an announcement, or takes one back. It does not block.
func (in *inbox) put(f Firing, withdrawn bool) {
	in.mu.Lock()
	in.due = append(in.due, announced{f.Key, f.ID, f.Due, f.Value.To, isOver(&f), withdrawn})
	in.mu.Unlock()
	in.wake()
}

func (in *inbox) wake() {
	select {
	case in.signal <- struct{}{}:
	default:
	}
}

// take waits for announcements. It reports false after close.
func (in *inbox) take() ([]announced, bool) {
	for {
		in.mu.Lock()
		due, closed := in.due, in.closed
		in.due = nil
		in.mu.Unlock()
		if closed || len(due) > 0 {
			return due, !closed
		}
		<-in.signal
	}
}

func (in *inbox) close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.wake()
}
