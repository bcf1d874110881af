package jetstream

import (
	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// NewBus returns a Bus that sends its messages over a connection.
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

// because returns err wrapped with the trouble of a connection, if there still is any.
func because(err error, nc *nats.Conn) error {
	if why := trouble(nc); why != nil {
		return &explained{why.Error(), err, why}
	}
	return err
}

// Watch uses StatusChanged, not the connection's handlers, which belong to the user.
func (b natsBus) Watch(end <-chan struct{}, changed func()) {
	status := b.StatusChanged()
	defer b.RemoveStatusListener(status)
	for {
		changed()
		if b.IsClosed() { // possibly since before the listener was registered
			return
		}
		select {
		case <-status:
		case <-end:
			return
		}
	}
}

// subscription ignores errors, since they mean that the connection is closed.
type subscription struct{ *nats.Subscription }

func (s subscription) Stop()  { _ = s.Unsubscribe() }
func (s subscription) Drain() { _ = s.Subscription.Drain() }
