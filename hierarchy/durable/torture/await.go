//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// urls returns the URLs of the servers, bypassing the links.
func (w *world) urls() (all []string) {
	for _, n := range w.servers {
		all = append(all, n.cfg.URL())
	}
	return all
}

// awaitServers waits until the servers are ready for streams.
func (w *world) awaitServers() error {
	end := time.Now().Add(startTime)
	for {
		conn, err := nats.Connect(strings.Join(w.urls(), ","))
		if err == nil {
			err = isReady(conn)
			conn.Close()
		}
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the servers do not start: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func isReady(conn *nats.Conn) error {
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_, err = js.Stream(ctx, "none")
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	return err
}

// await waits until all workers have written a record of that kind.
func (w *world) await(ctx context.Context, limit time.Duration, kind string) error {
	end := time.Now().Add(limit)
	for {
		all, missing := w.all(), 0
		for _, m := range all {
			if !m.wrote(kind) {
				missing = m.number
			}
		}
		if missing == 0 && len(all) > 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("worker %d is not %s within %v: see worker-%d.txt", missing, kind, limit, missing)
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// wrote reports whether the worker has written a record of that kind.
func (m *member) wrote(kind string) bool {
	all, read, err := judge.ReadRecords(m.path, m.read)
	if err != nil {
		return false
	}
	if m.kinds == nil {
		m.kinds = map[string]bool{}
	}
	for i := range all {
		m.kinds[all[i].Kind] = true
	}
	m.read = read
	return m.kinds[kind]
}

// finish waits until everything has fired.
func (w *world) finish(ctx context.Context) error {
	w.tell("read")
	if err := w.await(ctx, idleTime, judge.IsRead); err != nil {
		return err
	}
	w.tell("finish")
	return w.await(ctx, idleTime, judge.IsIdle)
}

// tell sends a line to all workers.
func (w *world) tell(line string) {
	for _, m := range w.all() {
		m.tell(line)
	}
}
