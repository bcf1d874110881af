package remote

import (
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Respond sends the answer to a message, unless its reply subject is one of ours, or of the server's: who may
// only send requests could else have an owner publish into a log.
func Respond(b storage.Bus, reply string, answer []byte) error {
	if !answerable(reply) {
		return errReply
	}
	return b.Publish(reply, "", answer)
}

// answerable reports whether a reply subject may be that of an inbox.
func answerable(reply string) bool {
	return reply != "" && !strings.HasPrefix(reply, "$") && !strings.HasPrefix(reply, "epicycle.")
}
