package service

import (
	"context"
	"strings"
	"sync"
)

// Reader has the events that one follower has not read yet.
type Reader struct {
	prefix string
	relay  bool // it is for other servers, and gets no events of these
	signal chan struct{}

	mu     sync.Mutex
	events []*Event
	size   int // bytes of events
	missed int // after them
}

// maxUnread limits the bytes of the events that a follower has not read.
const maxUnread = 512 << 10

func (r *Reader) put(missed int, events []*Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		switch {
		case !strings.HasPrefix(e.Key, r.prefix):
		case r.missed > 0, r.size+e.cost() > maxUnread: // those that are missing are missing in one place
			r.missed++
		default:
			r.events = append(r.events, e)
			r.size += e.cost()
		}
	}
	r.missed += missed
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// Read waits for events, and returns how many are missing after them. It returns the error of ctx when that is done.
func (r *Reader) Read(ctx context.Context) (events []*Event, missed int, err error) {
	for {
		r.mu.Lock()
		events, missed = r.events, r.missed
		r.events, r.size, r.missed = nil, 0, 0
		r.mu.Unlock()
		if len(events) > 0 || missed > 0 {
			return events, missed, nil
		}
		select {
		case <-r.signal:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}
