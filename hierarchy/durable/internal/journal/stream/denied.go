package stream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// denied is ErrDenied instead of err, if a server has said that this connection may not publish to the subject. It
// says so to the connection, and the message has no answer.
func denied(nc *nats.Conn, subject string, err error) error {
	if why := nc.LastError(); err != nil && errors.Is(why, nats.ErrPermissionViolation) && strings.Contains(why.Error(), `"`+subject+`"`) {
		return fmt.Errorf("%w: %w", journal.ErrDenied, why)
	}
	return err
}
