package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// Errors of a connection that does not work say only that a request had no answer in time. The state of the connection says
// why. It has no passwords: nats.go returns the servers without users, and its errors have none.

// Explain adds to err what is known of the connection, if that may be why there was no answer. It returns nil for
// nil, and an error that it has explained before as it is.
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

// explained is an error and what explains it. Where the connection does not work, the request's own error says nothing.
type explained struct {
	text     string
	err, why error
}

func (e *explained) Error() string   { return e.text }
func (e *explained) Unwrap() []error { return []error{e.err, e.why} }

// trouble returns what is wrong with a connection: it is not there, or the servers have refused something for lack of
// permission. It is nil if nothing is known to be wrong.
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
