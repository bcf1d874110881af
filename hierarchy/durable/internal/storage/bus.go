package storage

import (
	"errors"
	"fmt"
)

// The errors of a bus. They are wrapped.
var (
	// ErrOffline: there is no connection now.
	ErrOffline = errors.New("there is no connection to the servers")
	// ErrClosed: there will be none any more.
	ErrClosed = fmt.Errorf("%w: it was closed for good", ErrOffline)
)

// Bus is how the processes that share a name send each other messages: requests to a subject, and responses. Messages can
// be late, or lost, or come twice. What is in them, a bus does not know. Its methods may be called concurrently.
type Bus interface {
	// Publish sends a message to those that subscribe to its subject, words with dots between them. Responses go to
	// reply, if that is not empty.
	Publish(subject, reply string, data []byte) error
	// Subscribe calls f with each message for a subject, one at a time, until the Subscription ends. A last word * is
	// any word. Nobody else receives what another has published to a subject of NewInbox.
	Subscribe(subject string, f func(Message)) (Subscription, error)
	// NewInbox returns a subject that nobody else has, for responses.
	NewInbox() string
	// MaxMessage is the size of the largest message, with its subjects. It may change.
	MaxMessage() int
	// Offline returns ErrOffline with the reason if there is no connection now, or nil. Without one,
	// messages are kept for some time, or lost.
	Offline() error
	// Closed returns an error that is ErrClosed if the bus is closed for good, or nil.
	Closed() error
	// Watch calls changed now, and whenever the result of Offline may have changed, until the bus is closed for good or
	// end is closed.
	Watch(end <-chan struct{}, changed func())
}

// Message is a message that was received.
type Message struct {
	Subject, Reply string
	Data           []byte
	Nobody         bool // it is the response of the bus to a request for a subject that nobody subscribes to
}

// Subscription is what Subscribe has begun.
type Subscription interface {
	// Stop ends it at once.
	Stop()
	// Drain ends it when what has come was passed on.
	Drain()
}
