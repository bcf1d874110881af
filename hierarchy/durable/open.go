package durable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// owners is where the partitions of a set are: all in this process, with Config.Dir, or shared with
// others, with Config.Conn. A partition that is damaged answers with ErrDamaged.
type owners interface {
	Len() int // of partitions
	Do(ctx context.Context, at int, c *partition.Call) error
	Get(ctx context.Context, at int, key []byte) (value string, remaining time.Duration, ok bool, err error)
	Count(ctx context.Context, at int) (int, error) // timers that are not dead
	All(ctx context.Context, at int, dead bool, f func(state.Timer) bool) error
	Epoch(ctx context.Context, at int) (uint64, error) // 0 if it is not known
	// Partition is the partition if this process owns it, else nil. The error says that it is damaged.
	Partition(at int) (*partition.Partition, error)
	// Stats is what has happened in a partition while this process owned it, and whether it does now.
	Stats(at int) (st partition.Stats, owned bool, err error)
	// Members are the processes that share the partitions, and the place of each partition's owner
	// among them, or -1.
	Members() ([]cluster.Member, []int)
	Shutdown(ctx context.Context) error
	Close()
}

// Open opens the timers, and makes them if there are none. It waits until all are read that this
// process owns. What is due already may be handled before Open has returned: see Config.Handle.
//
// With Config.Conn, Open waits at most 15 seconds for a log that does not answer, if others do. Calls for its
// keys wait then, or are ErrUnavailable, until it answers. Streams with settings that lose timers are an
// error that says which.
//
// If a log is damaged, Open succeeds, and the calls for its keys return ErrDamaged. If what all logs
// share is damaged, such as their marks, Open returns ErrDamaged. If the directory can't be used, for
// lack of permission or of room on the disk, Open returns an error that says so.
func Open[K comparable, V any](ctx context.Context, cfg Config[K, V]) (*Keyed[K, V], error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	w := &Keyed[K, V]{cfg: cfg, crew: partition.NewCrew(cfg.Concurrency)}
	w.pool.New = func() any { return new(request) }
	if cfg.Conn != nil {
		w.owners, err = openShared(ctx, w.shared())
	} else {
		w.owners, err = openDir(ctx, w.dir())
	}
	if errors.Is(err, jetstream.ErrPartitions) {
		err = journal.Because(partition.ErrArgument, err)
	}
	if err != nil {
		if !strings.HasPrefix(err.Error(), "durable: ") { // as that of ErrDamaged
			err = fmt.Errorf("durable: %w", err)
		}
		return nil, err
	}
	return w, nil
}

// common is the configuration of all partitions.
func (w *Keyed[K, V]) common() partition.Config {
	return partition.Config{
		Clock: w.cfg.Clock, Precision: w.cfg.Precision, MaxPending: w.cfg.MaxPending,
		MaxAttempts: max(0, w.cfg.MaxAttempts), Backoff: w.cfg.Backoff, Handle: w.handle,
		Crew:   w.crew,
		Logger: w.cfg.Logger.With("name", w.cfg.Name), Owner: owner(),
	}
}

func (w *Keyed[K, V]) dir() dirConfig {
	return dirConfig{w.cfg.Dir, w.cfg.Name, w.cfg.Partitions, w.common(), w.cfg.Logger}
}

func (w *Keyed[K, V]) shared() sharedConfig {
	return sharedConfig{w.cfg.Conn, w.cfg.Name, w.cfg.Partitions, w.cfg.Replicas, w.cfg.Lease, w.cfg.maxSkew(), w.common(), w.cfg.Logger}
}
