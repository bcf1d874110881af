package embedded

import (
	"net"
	"sync"
	"time"
)

// pipe is a connection to the server of this process that takes what is written at once. Without it, a server whose
// disk hangs reads nothing more, and the client waits in the middle of a write, with its lock held: then no request
// ends with its context.
type pipe struct {
	net.Conn
	mu     sync.Mutex
	more   sync.Cond // something has changed below
	buf    []byte
	err    error // of the server's end
	closed bool
}

// pipeSize is how much may wait for the server before a write waits, too. What is tried again while the disk hangs is
// a frame for each partition every few seconds.
const pipeSize = 64 << 20

func newPipe(server net.Conn) *pipe {
	p := &pipe{Conn: server}
	p.more.L = &p.mu
	go p.pump()
	return p
}

// Write takes b.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buf) > 0 && len(p.buf)+len(b) > pipeSize && p.err == nil && !p.closed {
		p.more.Wait()
	}
	if p.closed {
		return 0, net.ErrClosed
	}
	if p.err != nil {
		return 0, p.err
	}
	p.buf = append(p.buf, b...)
	p.more.Broadcast()
	return len(b), nil
}

// pump writes what was taken to the server.
func (p *pipe) pump() {
	var next []byte
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.err == nil {
		for len(p.buf) == 0 && !p.closed {
			p.more.Wait()
		}
		if p.closed {
			return
		}
		next, p.buf = p.buf, next[:0]
		p.more.Broadcast()
		p.mu.Unlock()
		_, err := p.Conn.Write(next)
		if cap(next) > maxPayload { // one large frame must not keep its room
			next = nil
		}
		p.mu.Lock()
		p.err = err
	}
	p.more.Broadcast()
}

// SetWriteDeadline does nothing: a write waits for what others have written.
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

// Close ends the connection. What the server has not read is lost, as with any connection.
func (p *pipe) Close() error {
	p.mu.Lock()
	p.closed = true
	p.more.Broadcast()
	p.mu.Unlock()
	return p.Conn.Close()
}
