package service

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// This file shows how servers tell each other what happens. A server whose events nobody follows sends none. One that has
// followers asks the others for theirs (opFollow) as long as it has, again and again: a question counts for relayTime.

// following is what a server has while it follows the others.
type following struct {
	mu      sync.Mutex
	sub     *nats.Subscription
	cancel  context.CancelFunc
	dropped int // messages that the connection has dropped so far
}

const (
	opFollow   = "follow"
	opHello    = "hello" // a server has begun to answer: whoever follows asks it at once
	opAttempts = "attempts"
	relayTime  = 3 * askEvery
	// maxEvents limits the bytes of the events in a message, about.
	maxEvents = 64 << 10
	// Limits of the messages that have arrived and are not passed on yet.
	maxPendingMessages = 1000
	maxPendingBytes    = 8 << 20
)

// happened is a message with events.
type happened struct {
	From   string   `json:"from"`
	Events []*Event `json:"events,omitempty"`
	Missed int      `json:"missed,omitempty"`
}

func (p *peers) events() string { return p.subject + ".events" }

// follow has the others send their events, until unfollow is called when there is no reader.
func (p *peers) follow(ctx context.Context) {
	f := &p.following
	f.mu.Lock()
	if f.sub == nil {
		p.beginToFollow()
	}
	f.mu.Unlock()
	p.askToFollow(ctx, true)
}

// beginToFollow subscribes, and asks from time to time. following.mu is held.
func (p *peers) beginToFollow() {
	f := &p.following
	sub, err := p.conn.Subscribe(p.events(), p.receive)
	if err != nil {
		return // the connection is closed, and so is the service soon
	}
	_ = sub.SetPendingLimits(maxPendingMessages, maxPendingBytes)
	f.sub, f.dropped = sub, 0
	var again context.Context
	again, f.cancel = context.WithCancel(p.service.life)
	p.begin(func() {
		ticker := time.NewTicker(askEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.askToFollow(again, false)
			case <-again.Done():
				return
			}
		}
	})
}

// unfollow ends a follow, unless there is a reader. If anyway is true, it ends in any case.
func (p *peers) unfollow(anyway bool) {
	f := &p.following
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sub != nil && (anyway || !p.service.feed.isRead()) {
		f.cancel()
		_ = f.sub.Unsubscribe()
		f.sub = nil
	}
}

// askToFollow asks the others for their events. If wait is true, it waits for their answers, for no longer than onceTime.
func (p *peers) askToFollow(ctx context.Context, wait bool) {
	others := len(p.service.Stats().Members) - 1
	data, err := json.Marshal(&request{Op: opFollow, From: p.id})
	if err != nil || others <= 0 || !wait {
		_ = p.conn.Publish(p.subject, data)
		return
	}
	p.collect(ctx, data, others, func(*reply) bool { return false })
}

// hello tells the others that this server answers.
func (p *peers) hello() error {
	data, err := json.Marshal(&request{Op: opHello, From: p.id})
	if err != nil {
		return err
	}
	return p.conn.Publish(p.subject, data)
}

// helloed asks a server that has begun to answer for its events, if this one follows.
func (p *peers) helloed() {
	p.following.mu.Lock()
	defer p.following.mu.Unlock()
	if p.following.sub != nil {
		p.askToFollow(p.service.life, false)
	}
}

// collect sends a question to the others, and calls f with each answer until f returns true, there were as many answers as
// there are others, or onceTime has passed.
func (p *peers) collect(ctx context.Context, data []byte, others int, f func(*reply) bool) {
	answers := make(chan *nats.Msg, maxAnswers)
	inbox := p.conn.NewInbox()
	sub, err := p.conn.ChanSubscribe(inbox, answers)
	if err != nil {
		return
	}
	defer sub.Unsubscribe()
	if p.conn.PublishRequest(p.subject, inbox, data) != nil {
		return
	}
	late := time.NewTimer(onceTime)
	defer late.Stop()
	for range others {
		select {
		case m := <-answers:
			var r reply
			if json.Unmarshal(m.Data, &r) == nil && f(&r) {
				return
			}
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// receive passes on what has happened at another server.
func (p *peers) receive(m *nats.Msg) {
	var h happened
	if json.Unmarshal(m.Data, &h) != nil || h.From == p.id {
		return
	}
	f := &p.following
	f.mu.Lock()
	if dropped, err := m.Sub.Dropped(); err == nil {
		h.Missed += max(0, dropped-f.dropped)
		f.dropped = dropped
	}
	f.mu.Unlock()
	h.Events = slices.DeleteFunc(h.Events, func(e *Event) bool { return e == nil || !slices.Contains(EventKinds, e.Kind) })
	p.service.feed.pass(true, h.Missed, h.Events...)
}
