package jetstream

import (
	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// NewBus returns the connection as a bus.
func NewBus(nc *nats.Conn) storage.Bus { return natsBus{nc} }

type natsBus struct{ *nats.Conn }

func (b natsBus) Publish(subject, reply string, data []byte) error {
	if reply == "" {
		return b.Conn.Publish(subject, data)
	}
	return b.PublishRequest(subject, reply, data)
}

func (b natsBus) Subscribe(subject string, f func(storage.Message)) (storage.Subscription, error) {
	s, err := b.Conn.Subscribe(subject, func(m *nats.Msg) {
		nobody := len(m.Data) == 0 && m.Header.Get("Status") == "503"
		f(storage.Message{Subject: m.Subject, Reply: m.Reply, Data: m.Data, Nobody: nobody})
	})
	if err != nil {
		return nil, err
	}
	return subscription{s}, nil
}

func (b natsBus) MaxMessage() int { return int(b.MaxPayload()) }

func (b natsBus) Offline() error {
	if b.IsConnected() {
		return nil
	}
	if err := b.Closed(); err != nil {
		return err
	}
	return because(storage.ErrOffline, b.Conn)
}

func (b natsBus) Closed() error {
	if !b.IsClosed() {
		return nil
	}
	return because(storage.ErrClosed, b.Conn)
}

// because returns err with the reason that a connection has, if it has one still.
func because(err error, nc *nats.Conn) error {
	if why := trouble(nc); why != nil {
		return &explained{why.Error(), err, why}
	}
	return err
}

// Watch leaves the handlers of the connection to the user.
func (b natsBus) Watch(end <-chan struct{}, changed func()) {
	status := b.StatusChanged()
	defer b.RemoveStatusListener(status)
	for {
		changed()
		if b.IsClosed() { // maybe before status was there
			return
		}
		select {
		case <-status:
		case <-end:
			return
		}
	}
}

// subscription's errors mean that the connection is closed.
type subscription struct{ *nats.Subscription }

func (s subscription) Stop()  { _ = s.Unsubscribe() }
func (s subscription) Drain() { _ = s.Subscription.Drain() }
