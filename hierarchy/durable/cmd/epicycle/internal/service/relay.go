package service

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// relay sends the events of this server to others while they ask for them. The zero value is ready to use.
type relay struct {
	mu    sync.Mutex
	until time.Time
	runs  bool
}

// begin begins to send events, or goes on for longer, since another server follows them.
func (r *relay) begin(p *peers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(relayTime)
	if r.runs {
		return
	}
	reader := p.service.feed.add("", true)
	r.runs = p.begin(func() {
		defer p.service.feed.remove(reader)
		r.run(p, reader)
	})
	if !r.runs {
		p.service.feed.remove(reader)
	}
}

func (r *relay) run(p *peers, reader *Reader) {
	for r.goesOn() {
		ctx, cancel := context.WithTimeout(p.service.life, askEvery)
		events, missed, err := reader.Read(ctx)
		cancel()
		switch {
		case err == nil:
			p.publish(events, missed)
		case p.service.life.Err() != nil:
			return
		}
	}
}

// goesOn reports whether another server still follows.
func (r *relay) goesOn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = time.Now().Before(r.until)
	return r.runs
}

// publish sends events to all who follow.
func (p *peers) publish(events []*Event, missed int) {
	for {
		n, size := 0, 0
		for n < len(events) && size < maxEvents {
			size += events[n].cost()
			n++
		}
		h := happened{From: p.id, Events: events[:n]}
		if events = events[n:]; len(events) == 0 {
			h.Missed = missed
		}
		if data, err := json.Marshal(&h); err == nil {
			_ = p.conn.Publish(p.events(), data)
		}
		if len(events) == 0 {
			return
		}
	}
}
