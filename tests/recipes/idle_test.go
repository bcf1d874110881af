package recipes

import (
	"fmt"
	"net"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// idleConn is a connection that is closed after a time without reads and writes.
type idleConn struct {
	net.Conn
	idle *hierarchy.Idle
}

func closeWhenIdle(w *hierarchy.Wheel, c net.Conn, idle time.Duration) (net.Conn, error) {
	i, err := w.NewIdle(idle, func() { c.Close() })
	if err != nil {
		return nil, err
	}
	return &idleConn{c, i}, nil
}

func (c *idleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.idle.Touch()
	return n, err
}

func (c *idleConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.idle.Touch()
	return n, err
}

func (c *idleConn) Close() error {
	c.idle.Stop()
	return c.Conn.Close()
}

func Example_idleConnections() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	client, server := net.Pipe()
	conn, err := closeWhenIdle(w, server, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := make([]byte, 16)
	go client.Write([]byte("hello"))
	m.Add(50 * time.Second)
	n, _ := conn.Read(p)
	fmt.Printf("after %v: read %q\n", m.Elapsed(), p[:n])
	m.Add(50 * time.Second)
	fmt.Printf("after %v: %d timer\n", m.Elapsed(), w.Len())
	m.Add(50 * time.Second)
	_, err = conn.Read(p)
	fmt.Printf("after %v: %v\n", m.Elapsed(), err)
	// Output:
	// after 50s: read "hello"
	// after 1m40s: 1 timer
	// after 2m30s: io: read/write on closed pipe
}
