package service

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// This file shows how peers answer each other.

// begin calls f in a goroutine. It reports false if close was called.
func (p *peers) begin(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Go(f)
	}
	return !p.closed
}

// fromOne handles what another server sends to all.
func (p *peers) fromOne(m *nats.Msg) {
	var r request
	if json.Unmarshal(m.Data, &r) != nil || r.From == p.id {
		return
	}
	switch r.Op {
	case opHas:
		p.has(m, &r)
	case opFollow:
		p.relay.begin(p)
		if m.Reply != "" {
			_ = p.answer(m, &reply{Server: p.id})
		}
	case opHello:
		p.helloed()
	case opAttempts:
		p.tellAttempts(m, &r)
	case opAsk, opHeld, opEnded, opTell:
		p.service.share.hear(m, &r)
	case opLimited:
		_ = p.answer(m, &reply{Server: p.id, Waiting: p.service.LimitsHere()})
	case opForget:
		p.mu.Lock()
		defer p.mu.Unlock()
		if q := p.asked[r.Question]; q != nil {
			q.cancel()
		}
	}
}

// has answers when this server has a firing.
func (p *peers) has(m *nats.Msg, r *request) {
	if r.Wait <= 0 {
		p.answer(m, &reply{Server: p.id, Has: p.mayHandOut() && p.service.queues.Has(r.Queue, r.Prefix)})
		return
	}
	ctx, cancel := context.WithTimeout(p.service.life, min(r.Wait, 2*askEvery))
	q := &question{cancel}
	p.mu.Lock()
	if before := p.asked[r.Question]; before != nil {
		before.cancel()
	}
	p.asked[r.Question] = q
	p.mu.Unlock()
	begun := p.begin(func() {
		defer p.forget(r.Question, q)
		if !p.mayHandOut() {
			return
		}
		key, ok := p.service.queues.Wait(ctx, r.Queue, r.Prefix)
		if !ok || p.service.Draining() {
			return
		}
		p.answer(m, &reply{Server: p.id, Has: true})
		if key != "" {
			_, _ = p.service.wheel.AfterFunc(passAfter, func() { p.service.queues.Pass(r.Queue, key) })
		}
	})
	if !begun {
		p.forget(r.Question, q)
	}
}

// passAfter is when another taker is woken for a firing that was offered to another server, and not taken by it.
const passAfter = time.Second

// leastPayload is the least max_payload of the NATS servers with which firings are handed out to other servers: half of
// it has room for the largest firing.
const leastPayload = 256 << 10

// mayHandOut reports whether this server hands out firings to others.
func (p *peers) mayHandOut() bool {
	return !p.service.Draining() && p.conn.MaxPayload() >= leastPayload
}

func (p *peers) forget(name string, q *question) {
	q.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked[name] == q {
		delete(p.asked, name)
	}
}

// forThis handles what another server sends to this one.
func (p *peers) forThis(m *nats.Msg) {
	var r request
	if json.Unmarshal(m.Data, &r) != nil {
		return
	}
	if !p.begin(func() { p.do(m, &r) }) {
		_ = p.answer(m, new(reply))
	}
}

// do hands firings out to another server.
func (p *peers) do(m *nats.Msg, r *request) {
	all := p.service.takeHere(r.Queue, r.Max, int(min(mostTaken, p.conn.MaxPayload()/2)), r.Prefix)
	if err := p.answer(m, &reply{Taken: all}); err != nil {
		p.service.GiveBack(r.Queue, all)
		_ = p.answer(m, new(reply))
	}
}

func (p *peers) answer(m *nats.Msg, r *reply) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = m.Respond(data)
	}
	return err
}
