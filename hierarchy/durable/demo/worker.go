package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/docs/terminal"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

const (
	workerLease = 2 * time.Second
	tellOwners  = 50 * time.Millisecond // how often a worker looks who owns what
)

// runWorker is runChild for one of several processes that share timers.
func runWorker(urls, number string, in io.Reader, out, errs io.Writer) int {
	nc, err := nats.Connect(urls, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		fmt.Fprintln(errs, err)
		return terminal.ExitFailed
	}
	defer nc.Close()
	c := &child{number: number, callers: 4, pause: 6 * time.Millisecond, out: out, shared: true}
	return c.run(durable.Config[string, string]{Conn: nc, Lease: workerLease}, in, errs)
}

// tellOwners says who owns what, whenever that has changed.
func (c *child) tellOwners() {
	last := ""
	for ; ; time.Sleep(tellOwners) {
		if now := owners(c.timers.Stats()); now != last {
			c.say(lineOwners, now)
			last = now
		}
	}
}

// owners is the process that owns each partition, as its ID.
func owners(st durable.Stats) string {
	var all []string
	for _, p := range st.Partitions {
		id := "-"
		if i := strings.LastIndexByte(p.Owner, ' '); i >= 0 {
			id = p.Owner[i+1:]
		}
		all = append(all, id)
	}
	return strings.Join(all, ",")
}
