package membus

import (
	"slices"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// maxMessage is the size of the largest message, as that of a NATS server.
const maxMessage = 1 << 20

// Bus is the connection of a process to a Net.
type Bus struct {
	Number int // of the Buses of the Net, from 1

	net *Net

	// net.mu guards these.
	all     []*subscription
	mute    bool // what it sends is lost
	deaf    bool // what is sent to it is lost
	offline bool
	closed  bool
	changed chan struct{} // closed, and replaced, when offline or closed has changed
}

var _ storage.Bus = (*Bus)(nil)

// Cut makes everything that the process sends get lost, or that is sent to it, until it is called again.
func (b *Bus) Cut(out, in bool) {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	b.mute, b.deaf = out, in
}

// SetOffline cuts the process off so that it knows it.
func (b *Bus) SetOffline(offline bool) {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	if b.closed {
		return
	}
	b.offline, b.mute, b.deaf = offline, offline, offline
	b.tell()
}

// Close closes the connection for good. Messages that have arrived and were not passed on are lost.
func (b *Bus) Close() {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	b.tell()
	b.net.buses = slices.DeleteFunc(b.net.buses, func(c *Bus) bool { return b == c })
	for _, s := range b.all {
		s.queue.stop()
	}
	b.all = nil
}

// tell wakes Watch. net.mu must be held.
func (b *Bus) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Bus) Publish(subject, reply string, data []byte) error {
	b.net.mu.Lock()
	closed, mute := b.closed, b.mute
	b.net.mu.Unlock()
	switch {
	case closed:
		return storage.ErrClosed
	case mute:
		return nil
	}
	b.net.send(b, storage.Message{Subject: subject, Reply: reply, Data: slices.Clone(data)})
	return nil
}

func (b *Bus) Subscribe(subject string, f func(storage.Message)) (storage.Subscription, error) {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	if b.closed {
		return nil, storage.ErrClosed
	}
	s := &subscription{bus: b, subject: subject, queue: newQueue()}
	b.all = append(b.all, s)
	go s.queue.pass(f)
	return s, nil
}

func (b *Bus) NewInbox() string { return b.net.newInbox() }
func (b *Bus) MaxMessage() int  { return maxMessage }

func (b *Bus) Offline() error {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	switch {
	case b.closed:
		return storage.ErrClosed
	case b.offline:
		return storage.ErrOffline
	}
	return nil
}

func (b *Bus) Closed() error {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	if b.closed {
		return storage.ErrClosed
	}
	return nil
}

func (b *Bus) Watch(end <-chan struct{}, changed func()) {
	for {
		b.net.mu.Lock()
		next, closed := b.changed, b.closed
		b.net.mu.Unlock()
		changed()
		if closed {
			return
		}
		select {
		case <-next:
		case <-end:
			return
		}
	}
}

type subscription struct {
	bus     *Bus
	subject string
	queue   *queue
}

func (s *subscription) Stop() {
	s.leave()
	s.queue.stop()
}

func (s *subscription) Drain() {
	s.leave()
	s.queue.end()
}

func (s *subscription) leave() {
	s.bus.net.mu.Lock()
	defer s.bus.net.mu.Unlock()
	s.bus.all = slices.DeleteFunc(s.bus.all, func(t *subscription) bool { return s == t })
}

// queue has the messages that have arrived at a subscription.
type queue struct {
	mu       sync.Mutex
	messages []storage.Message
	ended    bool          // no message comes any more
	wake     chan struct{} // of capacity 1: full if something has changed
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) put(m storage.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		q.messages = append(q.messages, m)
		q.wakeUp()
	}
}

// end makes pass return once the messages that have arrived were passed on.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.wakeUp()
}

// stop makes pass return after the message that is being passed on.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages, q.ended = nil, true
	q.wakeUp()
}

func (q *queue) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next returns the next message, or reports that there is none, and whether there may be one later.
func (q *queue) next() (m storage.Message, ok, later bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.messages) == 0 {
		return m, false, !q.ended
	}
	m = q.messages[0]
	q.messages = q.messages[1:]
	return m, true, true
}

// pass calls f with the messages, one at a time.
func (q *queue) pass(f func(storage.Message)) {
	for {
		m, ok, later := q.next()
		switch {
		case ok:
			f(m)
		case later:
			<-q.wake
		default:
			return
		}
	}
}
