package service

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// asking is a question to all other servers: who has firings of a queue?
type asking struct {
	*peers
	question request
	answers  chan *nats.Msg
	sub      *nats.Subscription
}

const (
	// askEvery is the interval at which a question is repeated. Servers that were started since get it then, and a lost
	// question is replaced.
	askEvery = 5 * time.Second
	// onceTime limits the wait for answers of other servers if the worker does not wait for firings.
	onceTime = 250 * time.Millisecond
	// maxAnswers is the size of the buffer for answers. It is larger than the usual number of servers. If an answer is
	// lost, the question is repeated.
	maxAnswers = 64
)

// await is Service.await.
func (p *peers) await(ctx context.Context, queue, prefix string) (f found, ok bool) {
	a := &asking{
		peers: p, answers: make(chan *nats.Msg, maxAnswers),
		question: request{Op: opHas, From: p.id, Question: rand.Text(), Queue: queue, Prefix: prefix},
	}
	var err error
	if a.sub, err = p.conn.ChanSubscribe(p.conn.NewInbox(), a.answers); err != nil {
		f.key, ok = p.service.queues.Wait(ctx, queue, prefix)
		return f, ok
	}
	defer a.sub.Unsubscribe()
	if ctx.Err() != nil {
		return a.once()
	}
	defer a.send(opForget, 0)
	begun := time.Now()
	if f, ok = a.wait(ctx); !ok && time.Since(begun) < onceTime {
		return a.once() // there was no time for answers
	}
	return f, ok
}

// send sends the question to the other servers, or with opForget takes the question back.
func (a *asking) send(op string, wait time.Duration) {
	r := a.question
	r.Op, r.Wait = op, wait
	data, err := json.Marshal(&r)
	if err == nil {
		err = a.conn.PublishRequest(a.subject, a.sub.Subject, data)
	}
	if err != nil {
		a.service.logger.Debug("epicycle: the other servers were not asked for firings", "err", err)
	}
}

// once returns a server that has firings now.
func (a *asking) once() (f found, ok bool) {
	others := len(a.service.Stats().Members) - 1
	if others <= 0 {
		return f, false
	}
	a.send(opHas, 0)
	late := time.NewTimer(onceTime)
	defer late.Stop()
	for range others {
		select {
		case m := <-a.answers:
			if f.server, ok = hasFirings(m); ok {
				return f, true
			}
		case <-late.C:
			return f, false
		}
	}
	return f, false
}

// wait waits until this server or another one has firings.
func (a *asking) wait(ctx context.Context) (f found, ok bool) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	here := make(chan bool, 1)
	go func() {
		var woken bool
		f.key, woken = a.service.queues.Wait(waiting, a.question.Queue, a.question.Prefix)
		here <- woken
	}()
	a.send(opHas, askEvery+takeTime)
	again := time.NewTicker(askEvery)
	defer again.Stop()
	for {
		select {
		case ok := <-here:
			return f, ok
		case <-again.C:
			a.send(opHas, askEvery+takeTime)
		case m := <-a.answers:
			server, ok := hasFirings(m)
			if !ok {
				continue
			}
			cancel()
			<-here
			f.server = server
			return f, true
		}
	}
}

// hasFirings returns the server that has sent an answer, and whether it has firings.
func hasFirings(m *nats.Msg) (server string, ok bool) {
	var r reply
	if json.Unmarshal(m.Data, &r) != nil || !r.Has || !isServerID(r.Server) {
		return "", false
	}
	return r.Server, true
}
