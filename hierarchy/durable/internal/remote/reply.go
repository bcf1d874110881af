package remote

import (
	"strings"

	"github.com/nats-io/nats.go"
)

// Respond sends the answer to a message, unless its reply subject is one of ours, or of the server's: who may
// only ask could else have an owner publish into a log.
func Respond(nc *nats.Conn, reply string, answer []byte) error {
	if !answerable(reply) {
		return errReply
	}
	return nc.Publish(reply, answer)
}

// answerable reports whether a reply subject may be that of an inbox.
func answerable(reply string) bool {
	return reply != "" && !strings.HasPrefix(reply, "$") && !strings.HasPrefix(reply, "epicycle.")
}
