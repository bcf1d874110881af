package durable

import (
	"fmt"

	"github.com/nats-io/nats.go"
)

// leastServer is the first version of NATS that has all that is needed: requests for several messages of a log at
// once, and deletions that the table of members forgets.
var leastServer = [2]int{2, 11}

// checkServer is an error if the server of a connection is too old. Nothing is known of one that is not connected.
func checkServer(nc *nats.Conn) error {
	version := nc.ConnectedServerVersion()
	var is [2]int
	if _, err := fmt.Sscanf(version, "%d.%d", &is[0], &is[1]); err != nil {
		return nil
	}
	if is[0] < leastServer[0] || is[0] == leastServer[0] && is[1] < leastServer[1] {
		return fmt.Errorf("the NATS server %q has version %s, and must have %d.%d or a later one",
			nc.ConnectedServerName(), version, leastServer[0], leastServer[1])
	}
	return nil
}
