package service

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/traced"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// publisher publishes firings. If a stream stores the subject, it waits for the stream's acknowledgement. Otherwise it
// waits for the answer of the NATS server, which does not tell whether anybody has received the message.
type publisher struct {
	conn *nats.Conn
	js   jetstream.JetStream

	mu     sync.Mutex
	stored map[string]stored // by subject
}

// stored records whether a stream stores a subject, and the time until which the record is valid.
type stored struct {
	is    bool
	until time.Time
}

const storedTime = 10 * time.Second

var errNoServers = errors.New("subjects need -nats")

func (p *publisher) init(conn *nats.Conn) {
	if conn != nil {
		p.conn, p.stored = conn, make(map[string]stored)
		p.js, _ = jetstream.New(conn) // fails only with bad options
	}
}

// publish publishes a firing. It returns when ctx is done. The connection ignores ctx where a NATS server does not read:
// then the message may be sent later.
func (p *publisher) publish(ctx context.Context, a *Attempt) error {
	if p.conn == nil {
		return errNoServers
	}
	done := make(chan error, 1)
	go func() { done <- p.send(ctx, message(a)) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func message(a *Attempt) *nats.Msg {
	m := nats.NewMsg(a.Value.To.Name)
	m.Data = a.Value.Value
	m.Header.Set("Nats-Msg-Id", a.ID.String())
	m.Header.Set("epicycle-key", web.HeaderKey(a.Key))
	m.Header.Set("epicycle-due", a.Due.UTC().Format(time.RFC3339Nano))
	m.Header.Set("epicycle-attempt", strconv.Itoa(a.Attempt))
	if trace := traceOf(a); trace != "" {
		m.Header.Set(traced.Header, trace)
	}
	return m
}

func (p *publisher) send(ctx context.Context, m *nats.Msg) error {
	is, err := p.isStored(ctx, m.Subject)
	if err != nil {
		return fmt.Errorf("the servers do not say whether a stream stores the subject: %w", err)
	}
	if is {
		_, err = p.js.PublishMsg(ctx, m)
		return err
	}
	if err := p.conn.PublishMsg(m); err != nil {
		return err
	}
	return p.conn.FlushWithContext(ctx)
}

// isStored reports whether a stream stores a subject.
func (p *publisher) isStored(ctx context.Context, subject string) (bool, error) {
	p.mu.Lock()
	known := p.stored[subject]
	p.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.is, nil
	}
	_, err := p.js.StreamNameBySubject(ctx, subject)
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.stored) > 1<<12 {
		clear(p.stored)
	}
	p.stored[subject] = stored{err == nil, time.Now().Add(storedTime)}
	return err == nil, nil
}
