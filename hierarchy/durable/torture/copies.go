//go:build linux

package main

import (
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	askSubjects = "epicycle.timers.ask.*"
	mostCopies  = 2000 // that wait to be sent
	latestCopy  = 3 * remembered
)

// copies has somebody who may do so send old messages to the owners again, once more and later. They are committed
// no second time.
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
			if m.Reply == reply || waiting.Load() >= mostCopies { // one of ours
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
