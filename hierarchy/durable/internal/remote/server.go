package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

const (
	// maxPending limits the number of messages with operations that wait for the log at once, and maxPendingBytes the
	// number of their bytes. Further messages are refused, and their senders retry.
	maxPending      = 256
	maxPendingBytes = 64 << 20
	// pageBytes is the approximate size at which a page of a scan ends.
	pageBytes = 128 << 10
)

var (
	errBusy = fmt.Errorf("%w: the owner has too many requests", partition.ErrUnavailable)
	errStop = fmt.Errorf("%w: the owner has stopped answering", partition.ErrUnavailable)
	errKind = errors.New("the message requests something unknown")
	// errReply is for a message without a reply subject, or with a reply subject that could do harm.
	errReply = errors.New("the reply subject is none of an inbox")
)

// Server answers the requests of other processes for one partition.
type Server struct {
	cfg     Config
	owner   *partition.Partition
	refusal error // the answer to all requests if owner is nil
	sub     storage.Subscription
	ctx     context.Context // for calls that wait for the log
	cancel  context.CancelFunc

	mu      sync.Mutex // held while a message is read
	stopped bool
	calls   chan *pending
	bytes   atomic.Int64  // the number of bytes of the messages in calls
	ended   chan struct{} // closed when all calls have an answer
	once    sync.Once
	room    []byte // memory for answers
	exports map[uint64]*export
}

// pending is a message with operations that wait for the log.
type pending struct {
	call    core.Call
	started *partition.Pending
	reply   string
	size    int64
}

// Serve answers requests for a partition until Stop. When the partition is closed, or its Tenure is over, the answer is
// that another process owns the partition.
func Serve(cfg Config, at int, p *partition.Partition) (*Server, error) {
	return serve(cfg, at, &Server{owner: p})
}

// Refuse answers all requests for a partition with an error until Stop, for example because its log is damaged.
func Refuse(cfg Config, at int, err error) (*Server, error) {
	return serve(cfg, at, &Server{refusal: err})
}

func serve(cfg Config, at int, s *Server) (*Server, error) {
	cfg.fillIn()
	s.cfg = cfg
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.calls, s.ended, s.exports = make(chan *pending, maxPending), make(chan struct{}), make(map[uint64]*export)
	sub, err := cfg.Bus.Subscribe(cfg.subject(at), s.received)
	if err != nil {
		s.cancel()
		return nil, fmt.Errorf("subscribing to questions: %w", err)
	}
	s.sub = sub
	go s.answer()
	return s, nil
}

// Stop ends the Server. Calls that still wait for the log get the answer that they should be retried. If the partition
// was closed before Stop, as it should be, no call waits. Messages that have already reached this process are still
// answered: otherwise their callers would wait for a while before they try the next owner.
func (s *Server) Stop() {
	s.once.Do(func() {
		s.sub.Drain()
		s.mu.Lock()
		s.stopped = true
		for id := range s.exports {
			s.endExport(id)
		}
		close(s.calls)
		s.mu.Unlock()
		s.cancel()
	})
	<-s.ended
}

// received is called with each message.
func (s *Server) received(m storage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !answerable(m.Reply) {
		s.respond(m.Reply, nil) // respond refuses, and logs that
		return
	}
	if s.stopped {
		s.respond(m.Reply, appendFailure(s.room[:0], partition.ErrNotOwner))
		return
	}
	err := s.refusal
	k, body, bad := readKind(m.Data)
	switch {
	case bad != nil:
		err = bad
	case err != nil:
	case k == opsKind:
		if err = s.accept(m, body); err == nil {
			return // the method answer sends the answer later
		}
	default:
		err = s.read(k, body)
	}
	if err != nil {
		s.room = appendFailure(s.room[:0], err)
	}
	s.respond(m.Reply, s.room)
}

func (s *Server) respond(reply string, answer []byte) {
	if err := Respond(s.cfg.Bus, reply, answer); err != nil {
		s.cfg.Logger.Debug("durable: an answer was not sent", "to", reply, "err", err)
	}
}

// accept starts the call of a message with operations.
func (s *Server) accept(m storage.Message, body []byte) error {
	a := &pending{reply: m.Reply, size: int64(len(m.Data))}
	c := newCutter(body)
	ago := s.owner.Since(c.moment())
	err := readOps(c.B, ago, &a.call)
	if err != nil {
		return err
	}
	if len(s.calls) == cap(s.calls) || s.bytes.Load() > maxPendingBytes {
		return errBusy
	}
	if a.started, err = s.owner.Start(&a.call); err != nil {
		return err
	}
	s.bytes.Add(a.size)
	s.calls <- a // only this goroutine sends
	return nil
}

// answer answers the calls that accept has started, in order. The log answers them in that order, too.
func (s *Server) answer() {
	defer close(s.ended)
	var b []byte
	for a := range s.calls {
		err := a.started.Wait(s.ctx)
		if errors.Is(err, context.Canceled) {
			err = errStop
		}
		switch {
		case err == nil:
			b = appendMoment(appendDone(b[:0], &a.call), s.owner.Moment())
		case errors.Is(err, core.ErrOld):
			t, _ := s.owner.Time() // this time is in the log, even if another process owns the log by now
			b = appendTime(startAnswer(b[:0], old), t)
		default:
			b = appendFailure(b[:0], err)
		}
		s.bytes.Add(-a.size)
		s.respond(a.reply, b)
	}
}

// Respond sends the answer to a message, unless its reply subject is one of ours or of the server's: otherwise a client
// that may only send requests could make an owner publish into a log.
func Respond(b storage.Bus, reply string, answer []byte) error {
	if !answerable(reply) {
		return errReply
	}
	return b.Publish(reply, "", answer)
}

// answerable reports whether a reply subject may be the subject of an inbox.
func answerable(reply string) bool {
	return reply != "" && !strings.HasPrefix(reply, "$") && !strings.HasPrefix(reply, "epicycle.")
}
