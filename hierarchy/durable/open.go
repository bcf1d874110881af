package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// owners routes calls to the owners of the partitions. With Config.Dir, this process owns all partitions. With
// Config.Conn, several processes own them, and a caller owns none. Calls for a damaged partition return ErrDamaged.
type owners interface {
	Len() int // number of partitions
	Do(ctx context.Context, at int, c *core.Call) error
	Get(ctx context.Context, at int, key []byte) (value string, remaining time.Duration, ok bool, err error)
	Count(ctx context.Context, at int) (int, error) // the number of timers that are not dead
	Lookup(ctx context.Context, at int, key []byte) (t state.Timer, ok bool, err error)
	// List returns some of the first timers of a query in a partition.
	List(ctx context.Context, at int, q *partition.Query) (partition.Found, error)
	All(ctx context.Context, at int, dead bool, f func(state.Timer) bool) error
	// Export calls f for all timers of a partition as they were at one moment. It calls begin first, and again each
	// time the export has to start over.
	Export(ctx context.Context, at int, begin func() error, f func(state.Timer) error) error
	Epoch(ctx context.Context, at int) (uint64, error) // 0 if the epoch is not known
	// Partition returns the partition if this process owns it, else nil. The error is ErrDamaged if the log is damaged.
	Partition(at int) (*partition.Partition, error)
	// Stats returns the figures of a partition, counted while this process owned it, and whether this process owns the
	// partition now.
	Stats(at int) (st partition.Stats, owned bool, err error)
	// Members returns the processes that share the partitions, and for each partition the index of its
	// owner among them, or -1.
	Members() ([]cluster.Member, []int)
	// Health returns errors that describe what this process should do and can't.
	Health() []error
	HandOver(ctx context.Context)
	Shutdown(ctx context.Context) error
	Close()
}

// Open opens the set of timers, and creates it if it does not exist. It returns once all logs that this process owns
// have been read. Timers that are already due may be handled before Open returns: see Config.Handle.
//
// With Config.Conn and no Handle, this process is a caller: see Config.Handle. Its Open reads no log. If no process
// with a Handle has opened the name yet, Open waits for such a process until ctx is done.
//
// With Config.Conn, Open waits at most 15 seconds for a log that does not answer, if other logs do. Calls for the keys
// of that log then wait until the log answers, and return ErrUnavailable after a minute. If streams have settings that
// could lose timers, Open returns an error that names the settings.
//
// If a log is damaged, Open succeeds, and calls for its keys return ErrDamaged. If something is damaged that all logs
// share, such as their marks, Open returns ErrDamaged. If the directory can't be used, for example for lack of
// permission or of disk space, Open returns an error with the reason.
func Open[K comparable, V any](ctx context.Context, cfg Config[K, V]) (*Keyed[K, V], error) {
	w, err := newKeyed(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Conn != nil {
		w.owners, err = openShared(ctx, w.config())
	} else {
		w.owners, err = openDir(ctx, w.config())
	}
	if errors.Is(err, jetstream.ErrPartitions) {
		err = storage.Because(core.ErrArgument, err)
	}
	if err != nil {
		w.crew.Close()
		return nil, ofPackage(err)
	}
	return w, nil
}

// newKeyed returns a Keyed that has no owners yet.
func newKeyed[K comparable, V any](cfg Config[K, V]) (*Keyed[K, V], error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	w := &Keyed[K, V]{cfg: cfg, crew: partition.NewCrew(cfg.Concurrency)}
	if cfg.Timeout > 0 {
		if err := w.crew.Limit(cfg.Timeout, cfg.Clock); err != nil {
			return nil, fmt.Errorf("durable: %w", err)
		}
	}
	w.pool.New = func() any { return new(request) }
	return w, nil
}

// ofPackage returns err with a text that begins with the name of the package.
func ofPackage(err error) error {
	if strings.HasPrefix(err.Error(), "durable: ") { // such as the error of a damaged log
		return err
	}
	return fmt.Errorf("durable: %w", err)
}

// config is a Config without the types of keys and values.
type config struct {
	dir            string
	conn           *nats.Conn
	name           string
	partitions     int
	replicas       int
	lease, maxSkew time.Duration
	caller         bool             // this process is a caller: it owns no partition
	common         partition.Config // the configuration that all partitions share
	logger         *slog.Logger
}

func (w *Keyed[K, V]) config() config {
	cfg := &w.cfg
	return config{cfg.Dir, cfg.Conn, cfg.Name, cfg.Partitions, cfg.Replicas, cfg.Lease, cfg.maxSkew(),
		cfg.isCaller(), w.common(), cfg.Logger}
}

func (w *Keyed[K, V]) common() partition.Config {
	cfg := partition.Config{
		Config: core.Config{MaxPending: w.cfg.MaxPending, MaxAttempts: max(0, w.cfg.MaxAttempts), Backoff: w.cfg.Backoff,
			KeepDead: w.cfg.KeepDead},
		Clock: w.cfg.Clock, Precision: w.cfg.Precision, Handle: w.handle, Crew: w.crew,
		Logger: w.cfg.Logger.With("name", w.cfg.Name), Owner: owner(),
	}
	if w.cfg.Announce != nil {
		cfg.Announce = w.announce
		if w.cfg.Withdrawn != nil {
			cfg.Withdrawn = w.withdrawn
		}
	}
	if w.cfg.OnDead != nil {
		cfg.OnDead = w.onDead
	}
	return cfg
}
