package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

const durableLease = 2 * time.Second

type durableStore struct {
	*durable.Keyed[string, []byte]
	conn *nats.Conn
}

func durableDir() system {
	return system{
		Name:     "durable in a directory",
		Settings: "`Dir`, otherwise the defaults. The log and the callers are in the worker's process. Cancel is `RemoveEntry`, and yes if its `State` is waiting",
		Answer:   "after fsync",
		Embedded: true,
		Open: func(ctx context.Context, p place, handle func(string)) (store, error) {
			return openDurable(ctx, durable.Config[string, []byte]{Dir: filepath.Join(p.Dir, "timers")}, handle)
		},
	}
}

func durableServer(partitions int) system {
	return system{
		Name: "durable on a server, " + plural(partitions, "partition"),
		Settings: fmt.Sprintf("`Conn` to one NATS server with `sync_interval: always`, %s, `Lease` of %v; callers have no `Handle`",
			plural(partitions, "partition"), durableLease),
		Answer:  "after fsync",
		Servers: natsServer(true),
		Open: func(ctx context.Context, p place, handle func(string)) (store, error) {
			conn, err := natsConnect(p.Addrs[0])
			if err != nil {
				return nil, err
			}
			s, err := openDurable(ctx, durable.Config[string, []byte]{Conn: conn, Partitions: partitions, Lease: durableLease}, handle)
			if err != nil {
				conn.Close()
				return nil, err
			}
			return s, nil
		},
	}
}

func openDurable(ctx context.Context, cfg durable.Config[string, []byte], handle func(string)) (store, error) {
	if handle != nil {
		cfg.Handle = func(_ context.Context, f durable.Firing[string, []byte]) error {
			handle(f.Key)
			return nil
		}
	}
	k, err := durable.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return durableStore{k, cfg.Conn}, nil
}

func (s durableStore) Schedule(ctx context.Context, key string, at time.Time, value []byte) error {
	_, err := s.SetAt(ctx, key, value, at)
	return err
}

func (s durableStore) Move(ctx context.Context, key string, at time.Time, _ []byte) (bool, error) {
	_, ok, err := s.MoveAt(ctx, key, at)
	return ok, err
}

// Cancel reports whether the handler was not called, and won't be.
func (s durableStore) Cancel(ctx context.Context, key string) (bool, error) {
	e, ok, err := s.RemoveEntry(ctx, key)
	return ok && e.State == durable.StateWaiting && e.Attempt == 0, err
}

func (s durableStore) Pending(ctx context.Context) (int, error) { return s.Len(ctx) }

func (s durableStore) Close() error {
	err := s.Keyed.Close()
	if s.conn != nil {
		s.conn.Close()
	}
	return err
}

// plural returns a number with a noun: "1 partition", "8 partitions".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
