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
)

// awaitServers waits until the servers are ready for streams.
func (w *world) awaitServers() error {
	var urls []string
	for _, n := range w.servers {
		urls = append(urls, n.cfg.URL())
	}
	end := time.Now().Add(startTime)
	for {
		conn, err := nats.Connect(strings.Join(urls, ","))
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
		missing := 0
		for _, m := range w.all() {
			if !wrote(m.path, kind) {
				missing = m.number
			}
		}
		if missing == 0 {
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

// wrote tells whether there is a record of that kind.
func wrote(path, kind string) bool {
	all, err := readRecords(path)
	if err != nil {
		return false
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			return true
		}
	}
	return false
}
