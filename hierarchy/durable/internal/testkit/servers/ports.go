package servers

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are drawn below the range from which systems assign ports to connections at any time.
const firstPort, lastPort = 10_000, 32_000

const mostTries = 1000

// reserved holds the UDP ports of the TCP ports that this process has reserved, until it ends.
var reserved struct {
	mu    sync.Mutex
	conns []net.PacketConn // guarded by mu
}

// reservePorts draws n ports on which nobody listens, and which no other process that calls reservePorts is given before
// this one ends, although nobody listens on them yet. Several packages are tested at the same time, and start servers.
func reservePorts(n int) (ports []int, err error) {
	reserved.mu.Lock()
	defer reserved.mu.Unlock()
	for tries := 0; len(ports) < n; tries++ {
		port := firstPort + rand.IntN(lastPort-firstPort)
		c, failed := reserve(port)
		if failed == nil {
			reserved.conns, ports = append(reserved.conns, c), append(ports, port)
		} else if tries == mostTries {
			return nil, failed
		}
	}
	return ports, nil
}

// reserve takes the UDP port of that number, which nothing else uses, as a lock of the TCP port.
func reserve(port int) (net.PacketConn, error) {
	addr := net.JoinHostPort(host, strconv.Itoa(port))
	c, err := net.ListenPacket("udp", addr)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
