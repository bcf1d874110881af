package durable

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/stream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Keyed is durable timers with keys. All methods may be called concurrently, also inside
// handlers. Open makes a Keyed.
//
// An operation that returned nil took hold, and stays. One that returned an error other than
// ErrUnavailable or the context's did not. With these two it may have: do it again.
type Keyed[K comparable, V any] struct {
	cfg     Config[K, V]
	server  *embedded.Server
	name    name
	parts   []*part
	pool    sync.Pool // of *request
	closing sync.Once
}

// part is a partition, or why there is none.
type part struct {
	*partition.Partition
	err error
}

// Open opens the timers, and makes them if there are none. It waits until all are read. If a log
// is damaged, Open succeeds, and the calls for its keys return ErrDamaged.
func Open[K comparable, V any](ctx context.Context, cfg Config[K, V]) (*Keyed[K, V], error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	server, err := embedded.Open(cfg.Dir, cfg.Logger)
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
	begun := time.Now()
	progress := new(partition.Progress)
	defer w.tellProgress(progress)()
	var wg sync.WaitGroup
	for i, log := range set.Logs {
		wg.Go(func() {
			cfg := w.partition(crew)
			cfg.Progress = progress
			cfg.Log, cfg.Partition, cfg.Partitions = log, i, len(set.Logs)
			p, err := partition.Open(ctx, cfg)
			w.parts[i] = &part{p, err}
		})
	}
	wg.Wait()
	return w.opened(begun)
}

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
			w.cfg.Logger.Error("durable: a log is damaged", "name", w.cfg.Name, "err", p.err)
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
		Crew: crew, Logger: w.cfg.Logger.With("name", w.cfg.Name), Owner: owner(),
	}
}

// handle calls the handler.
func (w *Keyed[K, V]) handle(ctx context.Context, f partition.Firing) error {
	k, v, err := w.decode(f.Key, f.Value)
	if err != nil {
		w.cfg.Logger.Error("durable: a timer can't be decoded", "key", f.Key, "err", err)
		return err
	}
	return w.cfg.Handle(ctx, Firing[K, V]{k, v, timeOf(f.Due), int(f.Attempt), ID{f.ID}, f.Epoch})
}

// decode turns bytes into a key and a value.
func (w *Keyed[K, V]) decode(key, value string) (k K, v V, err error) {
	if k, err = w.cfg.Key.Decode([]byte(key)); err == nil {
		v, err = w.cfg.Value.Decode([]byte(value))
	}
	return k, v, err
}

// Set sets a timer for k, with the value v, due after d, counted from the call. If k has a timer,
// it is replaced. The error is also ErrFull or ErrTooLarge.
func (w *Keyed[K, V]) Set(ctx context.Context, k K, v V, d time.Duration) error {
	_, _, err := w.do(ctx, frame.Set, k, &v, d, time.Time{})
	return err
}

// SetAt is Set with a wall time. If the wall clock is set, the timer follows it.
func (w *Keyed[K, V]) SetAt(ctx context.Context, k K, v V, t time.Time) error {
	_, _, err := w.do(ctx, frame.SetAt, k, &v, 0, t)
	return err
}

// Move makes the timer of k due after d. It is false if k has none, or a dead one.
func (w *Keyed[K, V]) Move(ctx context.Context, k K, d time.Duration) (bool, error) {
	_, ok, err := w.do(ctx, frame.Move, k, nil, d, time.Time{})
	return ok, err
}

// Remove removes the timer of k, dead or not, and returns its value. It is false if k has none.
func (w *Keyed[K, V]) Remove(ctx context.Context, k K) (v V, ok bool, err error) {
	value, ok, err := w.do(ctx, frame.Remove, k, nil, 0, time.Time{})
	if ok {
		v, err = w.cfg.Value.Decode([]byte(value))
	}
	return v, ok, err
}

// Revive makes the dead timer of k due at once, as if it had not been tried yet. It is false if k
// has no dead timer.
func (w *Keyed[K, V]) Revive(ctx context.Context, k K) (bool, error) {
	_, ok, err := w.do(ctx, frame.Revive, k, nil, 0, time.Time{})
	return ok, err
}

// Get returns the value of k and the time until its next attempt is due, 0 if it is due or under
// way. It is false if k has no timer, or a dead one.
func (w *Keyed[K, V]) Get(ctx context.Context, k K) (v V, remaining time.Duration, ok bool, err error) {
	r := w.pool.Get().(*request)
	defer w.pool.Put(r)
	if err := ctx.Err(); err != nil {
		return v, 0, false, err
	}
	if r.data, err = w.appendKey(r.data[:0], k); err != nil {
		return v, 0, false, err
	}
	p := w.parts[of(r.data, len(w.parts))]
	if p.err != nil {
		return v, 0, false, p.err
	}
	value, remaining, ok, err := p.Get(r.data)
	if ok && err == nil {
		v, err = w.cfg.Value.Decode([]byte(value))
	}
	return v, remaining, ok && err == nil, err
}

// Len returns the number of timers that are not dead.
func (w *Keyed[K, V]) Len(ctx context.Context) (n int, err error) {
	for _, p := range w.parts {
		if p.err != nil {
			return 0, p.err
		}
		in, err := p.Len()
		if err != nil {
			return 0, err
		}
		n += in
	}
	return n, ctx.Err()
}

// Shutdown hands no further timer over, and waits for the handlers that run. When ctx is done, it
// ends their contexts and waits no longer, and returns ctx's error. Their timers come again after
// the next Open. Nothing that was acknowledged is lost. Inside a handler, Shutdown waits for that
// handler too.
func (w *Keyed[K, V]) Shutdown(ctx context.Context) error {
	errs := make([]error, len(w.parts))
	var wg sync.WaitGroup
	for i, p := range w.parts {
		if p != nil && p.err == nil {
			wg.Go(func() { errs[i] = p.Shutdown(ctx) })
		}
	}
	wg.Wait()
	w.closing.Do(func() {
		w.name.release()
		w.server.Close()
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close is Shutdown that does not wait for handlers.
func (w *Keyed[K, V]) Close() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.Shutdown(ended)
	return nil
}

// timeOf is a time of a log as a time.Time.
func timeOf(t int64) time.Time { return time.Unix(0, t) }

// wallTime is t as a time of a log. Times beyond what 64 bits hold are their ends.
func wallTime(t time.Time) int64 {
	if t.Year() > 2261 {
		return math.MaxInt64
	}
	if t.Year() < 1679 {
		return math.MinInt64
	}
	return t.UnixNano()
}
