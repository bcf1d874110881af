package durable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/stream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Open opens the timers, and makes them if there are none. It waits until all are read. If a log
// is damaged, Open succeeds, and the calls for its keys return ErrDamaged. If the directory can't be
// used, for lack of permission or of room on the disk, Open returns an error that says so.
func Open[K comparable, V any](ctx context.Context, cfg Config[K, V]) (*Keyed[K, V], error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	server, err := embedded.Open(ctx, cfg.Dir, cfg.Logger)
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

// open opens the partitions. If the server has a problem meanwhile, that is the error: the logs would
// not answer before it is gone, if it ever is.
func (w *Keyed[K, V]) open(ctx context.Context) (err error) {
	if w.name, err = takeName(w.server.Server, w.cfg.Name); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer w.server.OnProblem(func(problem error) { end(reason{problem}) })()
	if err = w.openParts(ctx, end); err == nil {
		return nil
	}
	var why reason
	if errors.As(context.Cause(ctx), &why) {
		err = why.error
	}
	if errors.Is(err, stream.ErrPartitions) {
		return fmt.Errorf("%w: durable: %w", ErrArgument, err)
	}
	return fmt.Errorf("durable: %s: %w", w.cfg.Dir, err)
}

// reason is why an Open ends the contexts of its partitions, and not its caller.
type reason struct{ error }

func (w *Keyed[K, V]) openParts(ctx context.Context, end context.CancelCauseFunc) error {
	set, err := stream.Open(ctx, stream.Config{Conn: w.server.Conn(), Name: w.cfg.Name, Partitions: w.cfg.Partitions})
	if err != nil {
		return err
	}
	crew := partition.NewCrew(w.cfg.Concurrency)
	gate := partition.NewGate(gatePlaces)
	begun := time.Now()
	progress := new(partition.Progress)
	defer w.tellProgress(progress)()
	w.parts = openAll(end, len(set.Logs), func(i int) (*partition.Partition, error) {
		cfg := w.partition(crew)
		cfg.Progress, cfg.Gate = progress, gate
		cfg.Log, cfg.Partition, cfg.Partitions = set.Logs[i], i, len(set.Logs)
		return partition.Open(ctx, cfg)
	})
	return w.opened(begun)
}

// openAll opens n partitions at the same time. The first that fails, other than by damage, ends the
// others.
func openAll(end context.CancelCauseFunc, n int, open func(i int) (*partition.Partition, error)) []*part {
	parts := make([]*part, n)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			p, err := open(i)
			parts[i] = &part{p, err}
			if err != nil && !errors.Is(err, ErrDamaged) {
				end(reason{err})
			}
		})
	}
	wg.Wait()
	return parts
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
			return p.err
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
