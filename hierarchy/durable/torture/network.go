//go:build linux

package main

import (
	"net"
	"strconv"
	"sync"
)

// What can happen to a link. If several things do, the worst one counts.
const (
	passes = iota
	mutes  // like holds, for data to the target
	deafs  // like holds, for data from the target
	holds  // data arrives when the link is healed
	cuts   // connections end, and new ones are refused
	fates
)

// link is a TCP proxy between two processes.
type link struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	faults  [fates]int // how many faults of each kind there are at the moment
	conns   map[net.Conn]bool
	changed chan struct{} // closed when faults change
}

// newLink listens on a free port.
func newLink(port int) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, target: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		conns: make(map[net.Conn]bool), changed: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *link) port() int { return l.listener.Addr().(*net.TCPAddr).Port }

// spoil breaks the link in one way, and returns a function that heals it.
func (l *link) spoil(fate int) (heal func()) {
	l.change(fate, 1)
	return func() { l.change(fate, -1) }
}

func (l *link) change(fate, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults[fate] += by
	if l.faults[cuts] > 0 {
		for c := range l.conns {
			c.Close()
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// state returns the worst fault of the link in one of its directions: to the target, or back.
func (l *link) state(back bool) (fate int, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	other := deafs
	if back {
		other = mutes
	}
	for fate = cuts; fate > passes && (l.faults[fate] == 0 || fate == other); {
		fate--
	}
	return fate, l.changed
}

// run accepts connections until the listener is closed.
func (l *link) run() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.join(c)
	}
}

// join connects an accepted connection with the target.
func (l *link) join(c net.Conn) {
	defer l.forget(c)
	if !l.add(c) || !l.pass(c, false) {
		return
	}
	to, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer l.forget(to)
	if !l.add(to) {
		return
	}
	go l.pump(to, c, true)
	l.pump(c, to, false)
}

// add adds a connection. It reports false if the link is cut.
func (l *link) add(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = true
	return l.faults[cuts] == 0
}

func (l *link) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Close()
	delete(l.conns, c)
}

// pass waits until data can pass. It reports false if the connection is over.
func (l *link) pass(c net.Conn, back bool) bool {
	for {
		fate, changed := l.state(back)
		switch fate {
		case passes:
			return true
		case cuts:
			return false
		}
		<-changed
		l.mu.Lock()
		open := l.conns[c]
		l.mu.Unlock()
		if !open {
			return false
		}
	}
}

// pump passes data from one connection on to another.
func (l *link) pump(from, to net.Conn, back bool) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if !l.pass(from, back) {
				return
			}
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close ends the link.
func (l *link) close() {
	l.listener.Close()
	l.change(cuts, 1)
}
