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
	// Durable configures the timers. Open sets Announce, Key and Value, and Backoff if that is nil.
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
	watched watched
	hosts   *lane.Hosts
	queues  *lane.Queues
	taken   taken
	peers   *peers           // nil if the timers are in a directory
	wheel   *hierarchy.Wheel // the wheel for the timeouts of firings that were taken
	stopped atomic.Bool
	life    context.Context // ends when Shutdown gives up the attempts that are still in progress
	giveUp  context.CancelFunc
	backoff func(attempt int) time.Duration // the pause after a failed attempt
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
	s.backoff = backoff
	if cfg.Durable.Backoff != nil {
		s.backoff = cfg.Durable.Backoff
	}
	s.hosts = lane.NewHosts(cfg.PerHost, cfg.Total, s.send, s.waits)
	s.queues = lane.NewQueues(s.waits)
	s.taken.init()
	if s.conn != nil {
		s.peers = newPeers(s, s.conn, s.name)
	}
	cfg.Durable.Value, cfg.Durable.Announce, cfg.Durable.Backoff = task.Codec{}, s.announce, s.backoff
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
	s.watched.announced(&f)
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
				s.hosts.Push("subject "+f.to.Name, d) // no name of a host has a space
			default:
				s.hosts.Push(f.to.Host(), d)
			}
		}
	}
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
	select {
	case <-s.hosts.Stop():
	case <-ctx.Done():
	}
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

// Lanes has the numbers of requests to webhooks and subjects, of firings that are taken, and of firings that wait in each
// queue.
type Lanes struct {
	lane.Figures
	Taken  int
	Queues map[string]int
}

// Lanes returns a snapshot.
func (s *Service) Lanes() Lanes {
	return Lanes{s.hosts.Figures(), s.taken.len(), s.queues.Len()}
}

// Crowded returns the number of hosts that wait until hosts that do not answer have fewer requests.
func (s *Service) Crowded() int { return s.hosts.Crowded() }
