package storage

import (
	"errors"
	"fmt"
)

// The errors of a bus. They are wrapped.
var (
	// ErrOffline means that there is no connection at the moment.
	ErrOffline = errors.New("there is no connection to the servers")
	// ErrClosed means that there will be no connection any more.
	ErrClosed = fmt.Errorf("%w: it was closed for good", ErrOffline)
)

// Bus connects the processes that share a name: it sends requests to a subject, and responses. Messages can be late or
// lost, or arrive twice. A Bus does not know what they contain. Its methods may be called concurrently.
type Bus interface {
	// Publish sends a message to all subscribers of its subject, which consists of words with dots between them.
	// Responses go to reply, unless that is empty.
	Publish(subject, reply string, data []byte) error
	// Subscribe calls f with each message for a subject, one at a time, until the Subscription ends. A last word *
	// matches any word. If the subject is from NewInbox, nobody else receives the messages.
	Subscribe(subject string, f func(Message)) (Subscription, error)
	// NewInbox returns a unique subject for responses.
	NewInbox() string
	// MaxMessage returns the size of the largest message, including its subjects. It may change.
	MaxMessage() int
	// Offline returns ErrOffline with the reason if there is no connection at the moment, or nil. Without a connection,
	// messages are kept for some time, or lost.
	Offline() error
	// Closed returns ErrClosed, wrapped, if the bus is closed for good, or nil.
	Closed() error
	// Watch calls changed now, and whenever the result of Offline may have changed, until the bus is closed for good or
	// end is closed.
	Watch(end <-chan struct{}, changed func())
}

// Message is a message that was received.
type Message struct {
	Subject, Reply string
	Data           []byte
	Nobody         bool // this is the response of the bus itself: nobody subscribes to the subject of the request
}

// Subscription is a subscription that Subscribe has begun.
type Subscription interface {
	// Stop ends it at once.
	Stop()
	// Drain ends it once the messages that have arrived were passed on.
	Drain()
}
