//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

type (
	timers = durable.Keyed[string, string]
	firing = durable.Firing[string, string]
)

// worker is a process that shares the timers, and calls operations.
type worker struct {
	cfg    workerConfig
	rec    *recorder
	clock  steady
	timers atomic.Pointer[timers]
	serial atomic.Int64
	names  atomic.Int64
	enough context.Context // ends when no further operations begin
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu   sync.Mutex
	used map[string]bool // keys on which operations are compared
}

func newWorker(cfg workerConfig) (*worker, error) {
	f, err := os.OpenFile(cfg.Records, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	w := &worker{cfg: cfg, clock: newSteady(cfg.Zero), used: make(map[string]bool)}
	w.rec = recordTo(f, w.clock.nano)
	w.enough, w.stop = context.WithCancel(context.Background())
	return w, nil
}

// open opens the timers, and begins to make calls. It reports false if the timers can't be opened.
func (w *worker) open(ctx context.Context) bool {
	conn, err := nats.Connect(w.cfg.URLs, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.RetryOnFailedConnect(true), nats.IgnoreDiscoveredServers(), nats.PingInterval(w.cfg.Lease/2), nats.Timeout(time.Second))
	if err == nil {
		var t *timers
		t, err = w.openWith(ctx, conn)
		if err == nil {
			w.timers.Store(t)
			w.rec.write(judge.Record{Kind: judge.IsOpen})
			w.begin()
			return true
		}
	}
	w.rec.write(judge.Record{Kind: judge.IsFailed, Error: err.Error()})
	fmt.Fprintln(os.Stderr, "Open:", err)
	return false
}

func (w *worker) openWith(ctx context.Context, conn *nats.Conn) (*timers, error) {
	for !conn.IsConnected() {
		time.Sleep(10 * time.Millisecond)
	}
	level := slog.LevelInfo
	if os.Getenv("DEBUG") != "" {
		level = slog.LevelDebug
	}
	return durable.Open(ctx, durable.Config[string, string]{
		Conn: conn, Partitions: w.cfg.Partitions, Lease: w.cfg.Lease, Handle: w.handle, Clock: w.clock,
		MaxAttempts: -1, Backoff: func(int) time.Duration { return judge.Backoff },
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
}

// handle records a firing. Some firings fail at the first attempt, and some take a while.
func (w *worker) handle(ctx context.Context, f firing) error {
	r := judge.Record{Kind: judge.IsFire, Key: f.Key, Value: f.Value, ID: f.ID.String(), Attempt: f.Attempt, Epoch: f.Epoch, Due: f.Due.UnixNano(), Time: w.clock.nano()}
	r.Over = ctx.Err() != nil // read after the time, since the call that ended ctx may have been answered before
	w.rec.write(r)
	h := fnv.New32a()
	_, _ = h.Write([]byte(f.Value))
	draw := h.Sum32()
	if draw%40 == 0 {
		time.Sleep(time.Duration(draw%200) * time.Millisecond)
	}
	var err error
	if draw%32 == 1 && f.Attempt == 1 {
		err = errors.New("not yet")
	}
	w.rec.write(judge.Record{Kind: judge.IsEnd, ID: r.ID, Attempt: f.Attempt, Epoch: f.Epoch, OK: err == nil})
	return err
}

// read ends all calls, and reads the keys once more.
func (w *worker) read() {
	w.stop()
	w.wg.Wait()
	w.readBack()
	w.rec.write(judge.Record{Kind: judge.IsRead})
}

// finish waits until no timer is pending that is to fire.
func (w *worker) finish() {
	for {
		n, err := w.pending()
		if err == nil && n == 0 {
			w.rec.write(judge.Record{Kind: judge.IsIdle})
			return
		}
		fmt.Fprintln(os.Stderr, "pending:", n, err)
		time.Sleep(200 * time.Millisecond)
	}
}

// pending counts the timers that are to fire.
func (w *worker) pending() (n int, err error) {
	t := w.timers.Load()
	if t == nil {
		return 0, errors.New("not open")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for e, err := range t.All(ctx) {
		if err != nil {
			return n, err
		}
		if strings.HasPrefix(e.Key, judge.FiringKeys) {
			n++
		}
	}
	return n, nil
}

// leave shuts the worker down.
func (w *worker) leave() {
	if t := w.timers.Load(); t != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = t.Shutdown(ctx) // what it has given away is judged by what fires
	}
	w.stop()
	w.wg.Wait()
}
