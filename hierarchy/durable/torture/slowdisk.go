//go:build linux

package main

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

const slowServer = "server with a slow disk"

// slowDisk has a server stand still for a moment again and again, as one does whose disk takes long for
// each write.
func slowDisk() mode {
	return mode{name: "slowdisk", says: "servers that take long for each write", faults: []often{{slowServer, 25}},
		begins: func(w *world, p plan, e *judge.Event) (end func()) {
			at := p.whom % len(w.servers)
			e.Server = at + 1
			n := w.servers[at]
			return repeat(func(rest func(time.Duration) bool) bool {
				n.stop()
				defer n.goOn()
				return rest(10 * p.delay)
			}, 10*time.Millisecond)
		}}
}

// repeat does something again and again with a pause between, until it is told to end. What it does can
// rest, but no longer than until then.
func repeat(do func(rest func(time.Duration) bool) bool, pause time.Duration) (end func()) {
	enough, ended := make(chan bool), make(chan bool)
	rest := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-enough:
			return false
		}
	}
	go func() {
		defer close(ended)
		for do(rest) && rest(pause) {
		}
	}()
	return func() { close(enough); <-ended }
}
