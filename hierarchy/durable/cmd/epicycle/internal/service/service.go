// Package service fires durable timers at their targets: webhooks, subjects of NATS, and queues from which workers
// take them.
package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// Timers are the timers of a service.
type Timers = durable.Keyed[string, task.Task]

// Firing is a timer that is due.
type Firing = durable.Firing[string, task.Task]

// Attempt is an attempt that has begun.
type Attempt = durable.Attempt[string, task.Task]

// Config configures Open.
type Config struct {
	// Durable configures the timers. Open sets Announce, Key and Value.
	Durable durable.Config[string, task.Task]
	Sender  *web.Sender
	PerHost int // the largest number of requests at once to a host
	Total   int // the largest number of requests at once
}

// Service holds timers and fires them.
type Service struct {
	*Timers
	name    string
	conn    *nats.Conn // nil if the timers are in a directory
	subject publisher
	sender  *web.Sender
	logger  *slog.Logger
	inbox   inbox
	hosts   *lane.Hosts
	queues  *lane.Queues
	taken   taken
	failing failures
	peers   *peers           // nil if the timers are in a directory
	wheel   *hierarchy.Wheel // the wheel for the timeouts of firings that were taken, and for failures
	stopped atomic.Bool
	life    context.Context // ends when Shutdown gives up the attempts that are still in progress
	giveUp  context.CancelFunc
	routed  sync.WaitGroup
}

// Open opens the timers, and begins to fire them.
func Open(ctx context.Context, cfg Config) (*Service, error) {
	wheel, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return nil, err
	}
	s := &Service{name: cmp.Or(cfg.Durable.Name, "timers"), conn: cfg.Durable.Conn, sender: cfg.Sender, logger: cfg.Durable.Logger, wheel: wheel}
	s.life, s.giveUp = context.WithCancel(context.Background())
	s.subject.init(s.conn)
	s.inbox.signal = make(chan struct{}, 1)
	s.hosts = lane.NewHosts(cfg.PerHost, cfg.Total, s.send, s.waits)
	s.queues = lane.NewQueues(s.waits)
	s.taken.init()
	if s.conn != nil {
		s.peers = newPeers(s, s.conn, s.name)
	}
	cfg.Durable.Value, cfg.Durable.Announce = task.Codec{}, s.announce
	if s.Timers, err = durable.Open(ctx, cfg.Durable); err != nil {
		s.giveUp()
		wheel.Stop()
		return nil, err
	}
	s.routed.Go(s.route)
	if s.peers != nil {
		if err := s.peers.open(); err != nil {
			return nil, errors.Join(err, s.Shutdown(ctx))
		}
	}
	return s, nil
}

func (s *Service) waits(d lane.Due) bool { return s.Waits(d.Key, d.ID) }

// announce implements durable.Config.Announce.
func (s *Service) announce(f Firing) {
	s.inbox.put(f)
}

// route passes the timers that are due on by their targets.
func (s *Service) route() {
	for {
		due, ok := s.inbox.take()
		if !ok {
			return
		}
		for i := range due {
			f := &due[i]
			d := lane.Due{Key: f.key, ID: f.id, At: f.at}
			switch f.to.Kind {
			case task.Queue:
				s.queues.Push(f.to.Name, d)
			case task.Subject:
				s.hosts.Push("nats", d)
			default:
				s.hosts.Push(f.to.Host(), d)
			}
		}
	}
}

// nowait is a cancelled context, for calls of Attempt.End that do not wait for the log.
var nowait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// send makes an attempt to deliver a timer to a webhook or a subject.
func (s *Service) send(d lane.Due) {
	a, ok := s.Begin(d.Key, d.ID)
	if !ok {
		return
	}
	switch err := s.attempt(a); {
	case err == nil:
		_, _ = a.End(nowait, nil)
	case s.life.Err() != nil:
		_, _ = a.End(nowait, errShutdown)
	default:
		_, _ = s.fail(nowait, a, err)
	}
}

func (s *Service) attempt(a *Attempt) error {
	ctx, cancel := context.WithTimeoutCause(a.Context(), a.Value.Timeout, timeoutError(a.Value.Timeout))
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	if a.Value.To.Kind == task.Subject {
		err := s.subject.publish(ctx, a)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	}
	return s.sender.Send(ctx, &web.Request{
		URL: a.Value.To.Name, Key: a.Key, ID: a.ID.String(), Due: a.Due, Attempt: a.Attempt, Body: a.Value.Value,
	})
}

// Drain begins no further attempt, ends all calls of Take, and waits for the attempts in progress until ctx is done.
func (s *Service) Drain(ctx context.Context) {
	s.stopped.Store(true)
	s.queues.Stop()
	select {
	case <-s.hosts.Stop():
	case <-ctx.Done():
	}
	s.taken.wait(ctx)
}

// Name returns the name of the timers.
func (s *Service) Name() string { return s.name }

// Timeouts returns the wheel for the timeouts of firings that were taken.
func (s *Service) Timeouts() *hierarchy.Wheel { return s.wheel }

// Draining reports whether Drain was called.
func (s *Service) Draining() bool { return s.stopped.Load() }

// errShutdown is the error of attempts that Shutdown gives up: their timers are due again at once.
var errShutdown = durable.RetryAfter(0, errors.New("the server was shut down"))

// Shutdown gives up the attempts in progress, and hands the timers over to other processes.
func (s *Service) Shutdown(ctx context.Context) error {
	s.stopped.Store(true)
	s.queues.Stop()
	s.giveUp()
	<-s.hosts.Stop()
	for _, token := range s.taken.close() {
		s.end(token, errShutdown)
	}
	err := s.Timers.Shutdown(ctx)
	if s.peers != nil {
		s.peers.close()
	}
	s.inbox.close()
	s.routed.Wait()
	s.wheel.Stop()
	s.sender.Close()
	return err
}

// Lanes has the numbers of webhooks that are being sent and that wait, of firings that are taken, and of firings that
// wait in each queue.
type Lanes struct {
	Sending, Waiting, Taken int
	Queues                  map[string]int
}

// Lanes returns a snapshot.
func (s *Service) Lanes() (l Lanes) {
	l.Sending, l.Waiting = s.hosts.Len()
	l.Taken, l.Queues = s.taken.len(), s.queues.Len()
	return l
}
