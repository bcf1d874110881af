package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Client calls partitions that other processes own. A process has one Client for each set of timers. Its methods may be
// called concurrently.
type Client struct {
	cfg      Config
	caller   uint64
	inbox    string // the prefix of the subjects of all answers
	sub      storage.Subscription
	quiet    time.Duration
	lanes    []*lane
	requests sync.Pool // of *request

	reads  reads
	stats  stats
	ending atomic.Bool     // set when no further call is accepted
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
}

// New makes a Client. It must be closed.
func New(cfg Config) (*Client, error) {
	cfg.fillIn()
	inbox := cfg.Bus.NewInbox() + "."
	if !answerable(inbox) {
		return nil, fmt.Errorf("%w: %s. See nats.CustomInboxPrefix", errReply, inbox)
	}
	c := &Client{cfg: cfg, caller: rand.Uint64() | 1, inbox: inbox, quiet: firstQuiet}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.reads.waiting = make(map[uint64]*question)
	for at := range cfg.Partitions {
		c.lanes = append(c.lanes, &lane{client: c, at: at, subject: cfg.subject(at)})
	}
	sub, err := cfg.Bus.Subscribe(c.inbox+"*", c.answered)
	if err != nil {
		return nil, fmt.Errorf("subscribing to answers: %w", err)
	}
	c.sub = sub
	return c, nil
}

// Close ends all calls with ErrClosed.
func (c *Client) Close() {
	c.cancel()
	c.sub.Stop()
	for _, l := range c.lanes {
		l.close()
	}
}

// Do sends the operations of a call to the owner of a partition, which commits each of them once. It waits until the
// operations are in the log, or until ctx is done. Durations, and the minute after which the call is given up, count
// from begun. The call must have no Request, and belongs to the Client until Do returns without an error. After
// ErrUnavailable or the error of the context, the operations may or may not be committed. After other errors they are
// not committed.
func (c *Client) Do(ctx context.Context, at int, call *core.Call, begun Moment) (err error) {
	defer func() { c.stats.ended(begun.real, err) }()
	if err := c.accepts(ctx); err != nil {
		return err
	}
	partition.MarkOwn(ctx, call)
	a := c.newRequest(call, begun)
	if err := core.CheckSize(len(call.Ops), a.size, c.most()); err != nil {
		return err
	}
	l := c.lanes[at]
	if err := l.greet(ctx, call.HasDurations(), begun.real.Add(c.cfg.GiveUp)); err != nil {
		return err
	}
	if err := l.put(a); err != nil {
		return err
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		if l.giveUp(a) {
			return ctx.Err()
		}
		<-a.done
	}
	if a.err != nil {
		return a.err
	}
	c.requests.Put(a)
	return nil
}

// most returns the size of the largest message that the bus takes now. That size may change.
func (c *Client) most() int { return c.cfg.Bus.MaxMessage() - headers }

// accepts returns an error if no further call is accepted.
func (c *Client) accepts(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.ending.Load() { // checked first: the lease is resigned by then, too, but that is not the reason
		return core.ErrClosed
	}
	return c.usable()
}

// usable returns an error if calls can't be made now.
func (c *Client) usable() error {
	if c.ctx.Err() != nil {
		return core.ErrClosed
	}
	if err := c.cfg.Bus.Closed(); err != nil {
		return unavailable(err)
	}
	return nil
}

// replyTo returns the subject for the answers to a message with operations for a partition, and readReply the subject
// for the answers to a read.
func (c *Client) replyTo(at int, serial uint64) string {
	return c.inbox + strconv.FormatUint(uint64(at), 36) + "-" + strconv.FormatUint(serial, 36)
}

func (c *Client) readReply(id uint64) string { return c.inbox + strconv.FormatUint(id, 36) }

// answered is called with each answer.
func (c *Client) answered(m storage.Message) {
	token := m.Subject[len(c.inbox):]
	data := m.Data
	if m.Nobody {
		data = nil
	}
	lane, serial, ok := strings.Cut(token, "-")
	if !ok {
		if id, err := strconv.ParseUint(token, 36, 64); err == nil {
			c.reads.answered(id, data)
		}
		return
	}
	at, err1 := strconv.ParseUint(lane, 36, 32)
	n, err2 := strconv.ParseUint(serial, 36, 64)
	if err1 == nil && err2 == nil && at < uint64(len(c.lanes)) {
		c.lanes[at].answered(n, data)
	}
}

// Finish makes further calls fail with ErrClosed, and waits for the answers to those in progress until ctx is done.
// Close should follow. Calls that are still in progress at Close may have been committed, so they return
// ErrUnavailable.
func (c *Client) Finish(ctx context.Context) {
	c.ending.Store(true)
	for _, l := range c.lanes {
		for l.waits() {
			select {
			case <-time.After(time.Millisecond):
			case <-c.ctx.Done():
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// waits reports whether any caller waits for an answer.
func (l *lane) waits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.flying, func(m *message) bool { return m.wanted > 0 }) ||
		l.waiting.first != nil
}

// Stats are figures of the calls of a Client.
type Stats struct {
	Answered   hierarchy.Histogram // the durations of calls that were answered
	Unanswered uint64              // the number of calls that were given up
}

// stats counts the calls of a Client.
type stats struct {
	mu  sync.Mutex
	now Stats
}

// ended counts a call. An error that an owner may have sent counts as an answer.
func (s *stats) ended(begun time.Time, err error) {
	took := time.Since(begun)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || isAnswer(err) {
		s.now.Answered.Add(took)
	} else {
		s.now.Unanswered++
	}
}

// isAnswer reports whether an error of a call may have come from an owner.
func isAnswer(err error) bool {
	return errors.Is(err, core.ErrTooLarge) || errors.Is(err, partition.ErrDamaged) || errors.Is(err, core.ErrFull)
}

// Stats returns the figures of the calls that have ended.
func (c *Client) Stats() (st Stats) {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	st.Unanswered = c.stats.now.Unanswered
	st.Answered.Merge(c.stats.now.Answered) // a copy
	return st
}
