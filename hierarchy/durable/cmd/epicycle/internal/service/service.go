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
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/traced"
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
	// Durable configures the timers. Open sets Announce, Withdrawn, Trace, Key and Value, and Backoff if that is nil.
	Durable durable.Config[string, task.Task]
	Sender  *web.Sender
	PerHost int // the largest number of requests at once to a host, or a subject
	Total   int // the number of places for requests to hosts that answer; lane.Hosts has more for others
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
	gate    *lane.Gate
	limits  limiting
	share   *share // nil if the timers are in a directory
	hosts   *lane.Hosts
	queues  *lane.Queues
	taken   atomic.Int64 // how many firings workers have taken and not ended
	failing failures
	history *history
	feed    feed
	sending sending
	peers   *peers           // nil if the timers are in a directory
	wheel   *hierarchy.Wheel // the wheel for the timeouts of firings that were taken, and for failures
	open    context.Context  // ends when Drain or Shutdown begins
	stop    context.CancelFunc
	life    context.Context // ends when Shutdown gives up the attempts that are still in progress
	giveUp  context.CancelFunc
	backoff func(attempt int) time.Duration // the pause after a failed attempt of a timer that has no other
	// maxAttempts is the number of failed attempts after which a timer is dead that has no other; negative: no limit.
	maxAttempts int
	routed      sync.WaitGroup
	work        work // what goes on after its call has returned, and Drain and Shutdown wait for
}

// Open opens the timers, and begins to fire them.
func Open(ctx context.Context, cfg Config) (*Service, error) {
	wheel, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return nil, err
	}
	s := &Service{name: cmp.Or(cfg.Durable.Name, "timers"), conn: cfg.Durable.Conn, sender: cfg.Sender, logger: cfg.Durable.Logger, wheel: wheel, history: newHistory()}
	s.open, s.stop = context.WithCancel(context.Background())
	s.life, s.giveUp = context.WithCancel(context.Background())
	s.subject.init(s.conn)
	s.inbox.signal = make(chan struct{}, 1)
	s.backoff = backoff
	if cfg.Durable.Backoff != nil {
		s.backoff = cfg.Durable.Backoff
	}
	s.limitAttempts(&cfg.Durable)
	s.openGate()
	s.hosts = lane.NewHosts(cfg.PerHost, cfg.Total, s.gate, s.send)
	s.queues = lane.NewQueues(s.gate)
	cfg.Durable.Value, cfg.Durable.Backoff = task.Codec{}, s.backoff
	cfg.Durable.Announce, cfg.Durable.Withdrawn, cfg.Durable.Trace = s.announce, s.withdrawn, traced.Tracer{}
	if s.Timers, err = durable.Open(ctx, cfg.Durable); err != nil {
		s.giveUp()
		s.stop()
		wheel.Stop()
		return nil, err
	}
	if err := s.openLimits(ctx, cfg.Durable.Dir); err != nil {
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	s.routed.Go(s.route)
	s.routed.Go(func() { _, _ = s.List(s.life, durable.Query{Limit: 1}) }) // so that no other list has to build the index
	if s.peers != nil {
		s.peers.begin(s.share.repeat)
		if err := s.peers.open(); err != nil {
			return nil, errors.Join(err, s.Shutdown(ctx))
		}
	}
	return s, nil
}

// openGate makes the gate, whose limits are shared with other servers if there can be some.
func (s *Service) openGate() {
	if s.conn == nil {
		s.gate = lane.NewGate(nil)
		return
	}
	s.peers = newPeers(s, s.conn, s.name)
	s.share = newShare(s.peers)
	s.gate = lane.NewGate(s.share)
	s.share.gate = s.gate
}

// announce implements durable.Config.Announce.
func (s *Service) announce(f Firing) {
	s.inbox.put(f, false)
}

// withdrawn implements durable.Config.Withdrawn.
func (s *Service) withdrawn(f Firing) { s.inbox.put(f, true) }

// route passes the timers that are due on by their targets, and takes those back that were withdrawn.
func (s *Service) route() {
	for {
		due, ok := s.inbox.take()
		if !ok {
			return
		}
		for i := range due {
			s.pass(&due[i])
		}
	}
}

func (s *Service) pass(f *announced) {
	d := lane.Due{Key: f.key, ID: f.id, At: f.at}
	if f.over && !f.withdrawn {
		if a, ok := s.Begin(f.key, f.id); ok {
			s.tellEnd(a, errUnanswered)
			_, _ = s.fail(nowait, a, errUnanswered)
		}
		return
	}
	queued, name := f.to.Kind == task.Queue, f.to.Name
	switch f.to.Kind {
	case task.Queue:
	case task.Subject:
		name = lane.SubjectName(name)
	default:
		name = f.to.Host()
	}
	switch {
	case queued && f.withdrawn:
		s.queues.Remove(name, f.key, f.id)
	case queued:
		s.queues.Push(name, d)
	case f.withdrawn:
		s.hosts.Remove(name, f.key, f.id)
	default:
		s.hosts.Push(name, d)
	}
}

// Drain ends all calls of Take, and hands the timers over to the other servers. What workers have taken goes on there,
// and so do webhooks, whose results this server still sends. Until another server has a timer, its webhook begins here.
// Then Drain begins no further attempt, and waits for those in progress until ctx is done.
func (s *Service) Drain(ctx context.Context) {
	s.stop()
	s.queues.Stop()
	s.sending.limit(ctx)
	s.HandOver(ctx)
	select {
	case <-s.hosts.Stop():
	case <-ctx.Done():
	}
	s.work.wait(ctx)
}

// Name returns the name of the timers.
func (s *Service) Name() string { return s.name }

// Timeouts returns the wheel for the timeouts of firings that were taken.
func (s *Service) Timeouts() *hierarchy.Wheel { return s.wheel }

// Draining reports whether Drain was called.
func (s *Service) Draining() bool { return s.open.Err() != nil }

// OnDrain arranges for f to be called when Drain or Shutdown is called. The returned function takes that back.
func (s *Service) OnDrain(f func()) (stop func() bool) { return context.AfterFunc(s.open, f) }

// errShutdown is the error of attempts that Shutdown gives up: they are made again at once, and do not count.
var errShutdown = durable.Postpone(0, errors.New("the server was shut down"))

// Shutdown gives up the attempts in progress, and hands the timers over to other processes.
func (s *Service) Shutdown(ctx context.Context) error {
	s.stop()
	s.queues.Stop()
	s.giveUp()
	select {
	case <-s.hosts.Stop():
	case <-ctx.Done():
	}
	s.finishWork(ctx)
	err := s.Timers.Shutdown(ctx)
	s.limits.close()
	s.gate.Stop()
	if s.share != nil {
		s.share.pacer.close()
	}
	if s.peers != nil {
		s.peers.close()
	}
	s.inbox.close()
	s.routed.Wait()
	s.wheel.Stop()
	s.sender.Close()
	return err
}

// finishWork waits for what goes on after its call has returned. The log may be silent, and some time is for Shutdown.
func (s *Service) finishWork(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leftTime)
	defer cancel()
	s.work.wait(ctx)
}
