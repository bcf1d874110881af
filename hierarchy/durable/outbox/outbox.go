package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"regexp"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Config configures New. DB and Dialect are required.
type Config[K comparable, V any] struct {
	DB      *sql.DB
	Dialect Dialect
	// Table is the name of the table with the rows, default "epicycle_outbox". A second table, with the suffix
	// "_relay", records which process relays. Each set of timers needs tables of its own. The name consists of at most
	// 50 of the characters a-z, 0-9 and _.
	Table string
	// Key and Value encode keys and values in rows, by default as JSON. These Codecs may differ from the Codecs of the
	// durable.Keyed.
	Key   durable.Codec[K]
	Value durable.Codec[V]
	// Lease limits how long rows wait after the process that relays them was killed: another process takes over 1.25
	// Lease after the last renewal. From 100ms, default 10s. All processes must have the same Lease.
	Lease time.Duration
	// Logger receives what an operator should know. By default it is discarded.
	Logger *slog.Logger
}

const (
	minLease     = 100 * time.Millisecond
	defaultLease = 10 * time.Second
	// The limits of package durable. Without these checks, durable would refuse a row only after its transaction was
	// committed.
	maxKey   = 1 << 10
	maxValue = 64 << 10
)

// Box inserts operations into the outbox, and relays them. Its methods are safe for concurrent use.
type Box[K comparable, V any] struct {
	cfg    Config[K, V]
	insert string
}

var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,49}$`)

// New returns an outbox. It does not access the database: see Create.
func New[K comparable, V any](cfg Config[K, V]) (*Box[K, V], error) {
	if cfg.Table == "" {
		cfg.Table = "epicycle_outbox"
	}
	if cfg.Lease == 0 {
		cfg.Lease = defaultLease
	}
	if cfg.Key == nil {
		cfg.Key = jsonCodec[K]{}
	}
	if cfg.Value == nil {
		cfg.Value = jsonCodec[V]{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	bad := func(format string, args ...any) (*Box[K, V], error) {
		return nil, fmt.Errorf("outbox: %w: %s", durable.ErrArgument, fmt.Sprintf(format, args...))
	}
	switch {
	case cfg.DB == nil:
		return bad("DB is nil")
	case cfg.Dialect.Insert == "":
		return bad("Dialect is empty")
	case !tableName.MatchString(cfg.Table):
		return bad("Table %q may have only a-z, 0-9 and _", cfg.Table)
	case cfg.Lease < minLease:
		return bad("Lease %v is less than %v", cfg.Lease, minLease)
	}
	return &Box[K, V]{cfg: cfg, insert: fmt.Sprintf(cfg.Dialect.Insert, cfg.Table)}, nil
}

// Create creates the tables, if they do not exist. A program with migrations should execute Dialect.Create in a
// migration instead.
func (b *Box[K, V]) Create(ctx context.Context) error {
	return b.transact(ctx, func(tx Execer) error {
		for _, statement := range b.cfg.Dialect.Create {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(statement, b.cfg.Table)); err != nil {
				return err
			}
		}
		return nil
	})
}

// transact calls f in a transaction, which it commits if f returns nil.
func (b *Box[K, V]) transact(ctx context.Context, f func(tx Execer) error) (err error) {
	if b.cfg.Dialect.Transact != nil {
		return b.cfg.Dialect.Transact(ctx, b.cfg.DB, f)
	}
	tx, err := b.cfg.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }() // also if f panics
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// kind is the kind of an operation, as in the column op.
type kind int16

const (
	kindSet kind = 1 + iota
	kindSetAt
	kindMove
	kindRemove
	kindMoveAt
)

// Set sets a timer for k, with the value v, due d after the call, once tx is committed: see durable.Keyed.Set. The due
// time depends on the clocks of this process and of the process that relays, so these clocks should agree. If the key
// has more than 1 KiB or the value more than 64 KiB, as the Codecs of Config encode them, the error is
// durable.ErrTooLarge.
func (b *Box[K, V]) Set(ctx context.Context, tx *sql.Tx, k K, v V, d time.Duration) error {
	return b.add(ctx, tx, kindSet, k, &v, after(d))
}

// SetAt is like Set, but the timer is due at a wall time: see durable.Keyed.SetAt.
func (b *Box[K, V]) SetAt(ctx context.Context, tx *sql.Tx, k K, v V, t time.Time) error {
	return b.add(ctx, tx, kindSetAt, k, &v, unixNano(t))
}

// Move makes the timer of k due d after the call, once tx is committed. If k has no timer by then, nothing happens.
func (b *Box[K, V]) Move(ctx context.Context, tx *sql.Tx, k K, d time.Duration) error {
	return b.add(ctx, tx, kindMove, k, nil, after(d))
}

// MoveAt is like Move, but the timer is due at a wall time: see durable.Keyed.MoveAt.
func (b *Box[K, V]) MoveAt(ctx context.Context, tx *sql.Tx, k K, t time.Time) error {
	return b.add(ctx, tx, kindMoveAt, k, nil, unixNano(t))
}

// Remove removes the timer of k, once tx is committed. If k has no timer by then, nothing happens.
func (b *Box[K, V]) Remove(ctx context.Context, tx *sql.Tx, k K) error {
	return b.add(ctx, tx, kindRemove, k, nil, 0)
}

func (b *Box[K, V]) add(ctx context.Context, tx *sql.Tx, op kind, k K, v *V, due int64) error {
	key, err := b.cfg.Key.Append(nil, k)
	if err != nil {
		return fmt.Errorf("outbox: %w: the key: %w", durable.ErrArgument, err)
	}
	var value []byte
	if v != nil {
		if value, err = b.cfg.Value.Append([]byte{}, *v); err != nil {
			return fmt.Errorf("outbox: %w: the value: %w", durable.ErrArgument, err)
		}
	}
	if len(key) > maxKey || len(value) > maxValue {
		return fmt.Errorf("outbox: %w: a key of %d bytes, a value of %d", durable.ErrTooLarge, len(key), len(value))
	}
	if _, err := tx.ExecContext(ctx, b.insert, op, key, value, due, time.Now().UnixNano(), b.hash(key)); err != nil {
		return fmt.Errorf("outbox: inserting into %s: %w", b.cfg.Table, err)
	}
	return nil
}

// hash returns the number of the lock for a key.
func (b *Box[K, V]) hash(key []byte) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(b.cfg.Table))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(key)
	return int64(h.Sum64())
}

// after returns the time d from now. On overflow, it returns the largest time.
func after(d time.Duration) int64 {
	now := time.Now().UnixNano()
	if d > 0 && now > math.MaxInt64-int64(d) {
		return math.MaxInt64
	}
	return now + int64(d)
}

// unixNano returns the Unix time of t, limited to the range of int64.
func unixNano(t time.Time) int64 {
	switch {
	case t.Year() > 2261:
		return math.MaxInt64
	case t.Year() < 1679:
		return math.MinInt64
	}
	return t.UnixNano()
}

// Backlog describes what is in the outbox.
type Backlog struct {
	Rows    int           // the number of rows that wait to be relayed
	Oldest  time.Duration // the age of the oldest of these rows
	Waiting int           // the number of these rows that wait for another attempt: see Relay
	Failed  int           // the number of rows that were refused for good and are kept: see Relay
}

// Backlog returns what is in the outbox. Oldest grows while no relay runs.
func (b *Box[K, V]) Backlog(ctx context.Context) (l Backlog, err error) {
	var made sql.NullInt64
	err = b.cfg.DB.QueryRowContext(ctx, fmt.Sprintf(`SELECT COUNT(next), MIN(CASE WHEN next IS NOT NULL THEN made END),
		COUNT(CASE WHEN next > 0 THEN 1 END), COUNT(*) - COUNT(next) FROM %s`, b.cfg.Table)).
		Scan(&l.Rows, &made, &l.Waiting, &l.Failed)
	if err == nil && made.Valid {
		l.Oldest = max(0, time.Since(time.Unix(0, made.Int64)))
	}
	return l, err
}
