package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/stream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Open opens the timers, and makes them if there are none. It waits until all are read. If a log
// is damaged, Open succeeds, and the calls for its keys return ErrDamaged.
func Open[K comparable, V any](ctx context.Context, cfg Config[K, V]) (*Keyed[K, V], error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	server, err := openServer(ctx, cfg.Dir, cfg.Logger)
	if err != nil {
		return nil, fmt.Errorf("durable: %w", err)
	}
	w := &Keyed[K, V]{cfg: cfg, server: server}
	w.pool.New = func() any { return new(request) }
	if err := w.open(ctx); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *Keyed[K, V]) open(ctx context.Context) (err error) {
	if w.name, err = takeName(w.server, w.cfg.Name); err != nil {
		return err
	}
	set, err := stream.Open(ctx, stream.Config{Conn: w.server.Conn(), Name: w.cfg.Name, Partitions: w.cfg.Partitions})
	switch {
	case errors.Is(err, stream.ErrPartitions):
		return fmt.Errorf("%w: durable: %w", ErrArgument, err)
	case err != nil:
		return fmt.Errorf("durable: %s: %w", w.cfg.Dir, err)
	}
	w.parts = make([]*part, len(set.Logs))
	crew := partition.NewCrew(w.cfg.Concurrency)
	gate := partition.NewGate(gatePlaces)
	begun := time.Now()
	progress := new(partition.Progress)
	defer w.tellProgress(progress)()
	var wg sync.WaitGroup
	for i, log := range set.Logs {
		wg.Go(func() {
			cfg := w.partition(crew)
			cfg.Progress, cfg.Gate = progress, gate
			cfg.Log, cfg.Partition, cfg.Partitions = log, i, len(set.Logs)
			p, err := partition.Open(ctx, cfg)
			w.parts[i] = &part{p, err}
		})
	}
	wg.Wait()
	return w.opened(begun)
}

// openServer opens the server of a directory. A server looks through its files before it is ready.
// If ctx is done before, it is closed as soon as it is.
func openServer(ctx context.Context, dir string, log *slog.Logger) (*embedded.Server, error) {
	type result struct {
		server *embedded.Server
		err    error
	}
	opened := make(chan result, 1)
	go func() {
		s, err := embedded.Open(dir, log)
		opened <- result{s, err}
	}()
	select {
	case r := <-opened:
		return r.server, r.err
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.err == nil {
				r.server.Close()
			}
		}()
		return nil, fmt.Errorf("%s: the server does not start in time: %w", dir, ctx.Err())
	}
}

// gatePlaces is how many frames are on their way to the disk at once. With eight partitions and 256
// callers on two processors, two bring twice as much as no limit does, and three bring less than
// two with 16 callers: a sync keeps a processor of the Go runtime.
const gatePlaces = 2

// tellProgress says each second how far the logs are read, until the function is called.
func (w *Keyed[K, V]) tellProgress(p *partition.Progress) (stop func()) {
	ended := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.cfg.Logger.Info("durable: reading the logs", "dir", w.cfg.Dir, "name", w.cfg.Name,
					"read", p.Read.Load(), "of", p.Of.Load())
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended) }
}

// opened says how it went. Damage is no error of Open.
func (w *Keyed[K, V]) opened(begun time.Time) error {
	for _, p := range w.parts {
		switch {
		case errors.Is(p.err, ErrDamaged):
			p.err = fmt.Errorf("%s: %w", w.cfg.Dir, p.err)
			w.cfg.Logger.Error("durable: a log is damaged", "name", w.cfg.Name, "err", p.err,
				"salvage", "go run github.com/epicycle-go/epicycle/hierarchy/durable/salvage -dir "+w.cfg.Dir)
		case p.err != nil:
			return fmt.Errorf("durable: %s: %w", w.cfg.Dir, p.err)
		}
	}
	if took := time.Since(begun); took > time.Second {
		w.cfg.Logger.Info("durable: the logs are read", "dir", w.cfg.Dir, "name", w.cfg.Name, "took", took)
	}
	return nil
}

// partition is the configuration of all partitions.
func (w *Keyed[K, V]) partition(crew *partition.Crew) partition.Config {
	return partition.Config{
		Clock: w.cfg.Clock, Precision: w.cfg.Precision, MaxPending: w.cfg.MaxPending,
		MaxAttempts: max(0, w.cfg.MaxAttempts), Backoff: w.cfg.Backoff, Handle: w.handle,
		Crew: crew, Cause: w.server.Problem, Logger: w.cfg.Logger.With("name", w.cfg.Name), Owner: owner(),
	}
}
