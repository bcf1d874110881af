package service

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"
)

// This file shows how servers tell each other the last attempts of timers.

// attempts asks the owner of a timer for its last attempts.
func (p *peers) attempts(ctx context.Context, e *Entry) (all []Tried) {
	others := len(p.service.Stats().Members) - 1
	data, err := json.Marshal(&request{Op: opAttempts, From: p.id, Key: e.Key})
	if err != nil || others <= 0 {
		return nil
	}
	p.collect(ctx, data, 1, func(r *reply) bool {
		all = r.Tried
		return true
	})
	return all
}

// tellAttempts answers opAttempts if this server owns the timer.
func (p *peers) tellAttempts(m *nats.Msg, r *request) {
	if !p.service.Owns(r.Key) {
		return
	}
	p.begin(func() {
		ctx, cancel := context.WithTimeout(p.service.life, onceTime)
		defer cancel()
		answer := &reply{Server: p.id}
		if e, ok, err := p.service.Lookup(ctx, r.Key); ok && err == nil && p.service.Owns(r.Key) {
			answer.Tried = p.service.Attempts(ctx, &e)
		}
		_ = p.answer(m, answer)
	})
}
