package durable_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// serverOfVersion says that it is a NATS server of some version, and knows nothing but how to begin a connection.
func serverOfVersion(t *testing.T, version string) *nats.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "INFO {\"server_id\":\"x\",\"server_name\":\"old one\",\"version\":%q,\"headers\":true,\"max_payload\":1048576}\r\n", version)
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "PING") {
				fmt.Fprint(conn, "PONG\r\n")
			}
		}
	}()
	nc, err := nats.Connect("nats://"+l.Addr().String(), connectsLate)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// A server that lacks what is needed is refused at once, in words.
func TestServersThatAreTooOld(t *testing.T) {
	for _, version := range []string{"2.10.29", "1.4.1", "2.9.0-beta"} {
		_, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: serverOfVersion(t, version), Handle: new(record).handle})
		require.EqualError(t, err, `durable: the NATS server "old one" has version `+version+", and must have 2.11 or a later one")
	}
}
