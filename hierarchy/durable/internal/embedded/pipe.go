package embedded

import (
	"net"
	"sync"
	"time"
)

// pipe is a connection to the server of this process that accepts writes at once. Without it, when the disk hangs, the
// server would stop reading, and the client would wait in the middle of a write with its lock held: then no request
// would end with its context.
type pipe struct {
	net.Conn
	mu     sync.Mutex
	more   sync.Cond // signalled when a field below has changed
	buf    []byte
	err    error // the error of the connection to the server
	closed bool
}

// pipeSize is the number of bytes waiting for the server above which writes wait, too. While the disk hangs, retries
// are a frame for each partition every few seconds.
const pipeSize = 64 << 20

func newPipe(server net.Conn) *pipe {
	p := &pipe{Conn: server}
	p.more.L = &p.mu
	go p.pump()
	return p
}

// Write queues b for the server.
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

// pump writes the queued bytes to the server.
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
		if cap(next) > maxPayload { // after one large frame, its buffer must not be kept
			next = nil
		}
		p.mu.Lock()
		p.err = err
	}
	p.more.Broadcast()
}

// SetWriteDeadline does nothing, since a write also waits for what others have written before.
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

// Close ends the connection. Bytes that the server has not read are lost, as with any connection.
func (p *pipe) Close() error {
	p.mu.Lock()
	p.closed = true
	p.more.Broadcast()
	p.mu.Unlock()
	return p.Conn.Close()
}
