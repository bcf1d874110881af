package service

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// This file shows how peers answer each other.

// begin calls f in a goroutine, unless close was called.
func (p *peers) begin(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Go(f)
	}
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
		p.answer(m, &reply{Server: p.id, Has: !p.Draining() && p.queues.Has(r.Queue, allows(r.Prefix))})
		return
	}
	ctx, cancel := context.WithTimeout(p.life, min(r.Wait, 2*askEvery))
	q := &question{cancel}
	p.mu.Lock()
	if before := p.asked[r.Question]; before != nil {
		before.cancel()
	}
	p.asked[r.Question] = q
	p.mu.Unlock()
	p.begin(func() {
		defer p.forget(r.Question, q)
		if p.Draining() || !p.queues.Wait(ctx, r.Queue, allows(r.Prefix)) || p.Draining() {
			return
		}
		p.answer(m, &reply{Server: p.id, Has: true})
		_, _ = p.wheel.AfterFunc(nudgeAfter, func() { p.queues.Nudge(r.Queue) })
	})
}

// nudgeAfter is the time after which another worker is woken for a firing that another server was told of but did not
// take.
const nudgeAfter = time.Second

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
	p.begin(func() {
		switch r.Op {
		case opTake:
			all := p.takeHere(r.Queue, r.Max, int(p.conn.MaxPayload()/4), r.Prefix)
			if err := p.answer(m, &reply{Taken: all}); err != nil {
				p.GiveBack(all)
			}
		case opEnd:
			var result error
			if r.Failed {
				result = errors.New(r.Error)
			}
			var texts []string
			for _, err := range p.endHere(context.Background(), r.Queue, r.Tokens, result, r.Prefix) {
				text := ""
				if err != nil {
					text = err.Error()
				}
				texts = append(texts, text)
			}
			_ = p.answer(m, &reply{Errors: texts})
		case opGiveBack:
			for _, token := range r.Tokens {
				p.Service.end(token, errUnread)
			}
		}
	})
}

func (p *peers) answer(m *nats.Msg, r *reply) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = m.Respond(data)
	}
	return err
}
