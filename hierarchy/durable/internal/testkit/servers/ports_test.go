package servers

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// A port that was reserved is not reserved again, although nobody listens on it. A port on which somebody listens is
// not reserved.
func TestReservedPortsAreReservedOnce(t *testing.T) {
	ports, err := reservePorts(2)
	require.NoError(t, err)
	require.NotEqual(t, ports[0], ports[1])
	_, err = reserve(ports[0])
	require.Error(t, err)

	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(t, err)
	defer l.Close()
	_, err = reserve(l.Addr().(*net.TCPAddr).Port)
	require.Error(t, err)
}
