package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// If a connection does not work, the error of a request is only that there was no answer in time. The state of the
// connection has the reason. The reason contains no passwords: nats.go returns the URLs of servers without users and
// passwords, and its errors don't contain them either.

// Explain adds to err what is known about the connection, if that may be why there was no answer. It returns nil for
// nil, and returns an error unchanged that it has explained before.
func Explain(nc *nats.Conn, err error) error {
	var done *explained
	switch {
	case err == nil, errors.As(err, &done):
		return err
	case !isUnready(err) && !isUnsettled(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, nats.ErrConnectionClosed):
		return err
	}
	why := trouble(nc)
	if why == nil {
		return err
	}
	text := why.Error()
	switch {
	case nc.IsConnected():
		text = err.Error() + ": " + text
	case errors.Is(err, context.DeadlineExceeded):
		text = context.DeadlineExceeded.Error() + ": " + text
	case errors.Is(err, context.Canceled):
		text = context.Canceled.Error() + ": " + text
	}
	return &explained{text, err, why}
}

// explained is an error with its explanation. Its text leaves out the request's own error if the connection does not
// work.
type explained struct {
	text     string
	err, why error
}

func (e *explained) Error() string   { return e.text }
func (e *explained) Unwrap() []error { return []error{e.err, e.why} }

// trouble returns what is wrong with a connection: it is down, or the servers have refused something for lack of
// permission. It returns nil if nothing is known to be wrong.
func trouble(nc *nats.Conn) error {
	last, status := nc.LastError(), nc.Status()
	if status == nats.CONNECTED {
		if errors.Is(last, nats.ErrPermissionViolation) {
			return last
		}
		return nil
	}
	err := fmt.Errorf("the connection to %s is %s", strings.Join(nc.Servers(), ", "), strings.ToLower(status.String()))
	if last != nil {
		err = fmt.Errorf("%w: %w", err, last)
	}
	return err
}
