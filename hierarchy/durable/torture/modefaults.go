//go:build linux

package main

import (
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

const (
	oneWayWorker  = "worker cut off in one direction"
	oneWayServers = "servers cut off in one direction"
)

// oneWay cuts the connections of a worker, or those between servers, in one direction, while the other direction
// works.
func oneWay() mode {
	return mode{name: "oneway", says: "cuts of one direction", faults: []often{{oneWayWorker, 20}, {oneWayServers, 10}},
		begins: func(w *world, p plan, e *judge.Event) (end func()) {
			p.fate = []int{mutes, deafs}[p.whom/7%2]
			if p.fault == oneWayServers {
				return spoil(w.between(p, e)[:1], p)
			}
			all := w.all()
			if len(all) == 0 {
				return nil
			}
			m := all[p.whom%len(all)]
			e.Worker = m.number
			links := m.links
			if p.whom%2 == 0 {
				links = links[p.whom%len(links):][:1]
			}
			return spoil(links, p)
		}}
}

// between returns the two links between two servers.
func (w *world) between(p plan, e *judge.Event) []*link {
	n := len(w.servers)
	from := p.whom % n
	to := (from + 1 + p.whom/n%(n-1)) % n
	e.Server = from + 1
	return []*link{w.routes[[2]int{from, to}], w.routes[[2]int{to, from}]}
}

const cutRoute = "two servers cut off from each other"

// routes cuts two servers off from each other, while the others see both.
func routes() mode {
	return mode{name: "routes", says: "cuts between two servers that others still see", faults: []often{{cutRoute, 25}},
		begins: func(w *world, p plan, e *judge.Event) (end func()) {
			return spoil(w.between(p, e), p)
		}}
}

const slowServer = "server with a slow disk"

// slowDisk suspends a server for short moments again and again. So the server behaves as if its disk took long for each
// write.
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

// repeat calls do again and again, with a pause in between, until end is called. do can pause with rest, which returns
// early at the end.
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

// blackout takes all servers down at the same time.
func blackout() mode {
	return mode{name: "blackout", says: "all servers down at once", faults: []often{{judge.KillAll, 8}, {judge.StopAll, 8}},
		begins: func(w *world, p plan, _ *judge.Event) (end func()) {
			if p.fault == judge.KillAll {
				return w.downMany(0, len(w.servers))
			}
			for _, n := range w.servers {
				n.stop()
			}
			return func() {
				for _, n := range w.servers {
					n.goOn()
				}
			}
		}}
}

const (
	diesAfter  = 500 * time.Millisecond // its Open
	againAfter = 1500 * time.Millisecond
)

// crashLoop makes a worker die soon after it has joined, again and again, like one that can't run and is restarted. It
// takes nothing from workers that live.
func crashLoop() mode {
	return mode{name: "crashloop", says: "a worker that dies soon after each start", calm: true, during: func(w *world) (end func()) {
		return repeat(func(rest func(time.Duration) bool) bool {
			m := w.visits(visitor{dies: diesAfter})
			if m == nil {
				return false
			}
			defer m.gone()
			select {
			case <-m.process.Ended():
				return true
			case <-time.After(startTime):
			}
			return true
		}, againAfter)
	}}
}

// muteUser may do everything except write to the logs.
const muteUser = "mute"

// mute adds a worker that may not write to the logs. It fires nothing, and holds nothing up.
func mute() mode {
	return mode{name: "mute", says: "a worker without the right to publish to the logs", calm: true, during: func(w *world) (end func()) {
		return w.visits(visitor{user: muteUser}).gone
	}}
}

const (
	askSubjects = "epicycle.timers.ask.*"
	mostCopies  = 2000 // that wait to be sent
	latestCopy  = 3 * remembered
)

// copies makes a client with the necessary permission send old messages to the owners again, some time later. They must
// not be committed a second time.
func copies() mode {
	return mode{name: "copies", says: "old copies of messages sent again", during: func(w *world) (end func()) {
		conn, err := nats.Connect(strings.Join(w.urls(), ","), nats.MaxReconnects(-1))
		if err != nil {
			w.broke("nobody can send copies: %v", err)
			return func() {}
		}
		var waiting atomic.Int64
		reply := nats.NewInbox()
		_, err = conn.Subscribe(askSubjects, func(m *nats.Msg) {
			if m.Reply == reply || waiting.Load() >= mostCopies { // our own copy
				return
			}
			waiting.Add(1)
			time.AfterFunc(rand.N(latestCopy), func() {
				waiting.Add(-1)
				if conn.PublishRequest(m.Subject, reply, m.Data) == nil {
					w.copies.Add(1)
				}
			})
		})
		if err != nil {
			w.broke("nobody can send copies: %v", err)
		}
		return conn.Close
	}}
}
