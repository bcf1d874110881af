package main

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

const (
	workerLease = 2 * time.Second
	tellOwners  = 50 * time.Millisecond // how often a worker checks who owns what
)

// share makes the process one of several that share timers.
func (s *setter) share(urls string) (nc *nats.Conn, err error) {
	s.callers, s.pause, s.shared = 4, 6*time.Millisecond, true
	return nats.Connect(urls, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
}

// tellOwners prints who owns what, whenever that has changed.
func (s *setter) tellOwners() {
	last := ""
	for ; ; time.Sleep(tellOwners) {
		if now := owners(s.timers.Stats()); now != last {
			s.say(judge.Record{Kind: judge.IsOwners, Value: now})
			last = now
		}
	}
}

// owners returns the process that owns each partition, as its ID.
func owners(st durable.Stats) string {
	var all []string
	for _, p := range st.Partitions {
		_, process, _ := strings.Cut(p.Owner, ", process ")
		id, _, owned := strings.Cut(process, ",")
		if !owned {
			id = "-"
		}
		all = append(all, id)
	}
	return strings.Join(all, ",")
}
