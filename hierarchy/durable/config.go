package durable

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// The errors of this package. They may be wrapped: compare with errors.Is. The first
// three are those of package hierarchy. Under them, the errors of this package have texts of their own.
var (
	ErrClosed   = hierarchy.ErrClosed
	ErrFull     = hierarchy.ErrFull
	ErrArgument = hierarchy.ErrArgument
	// ErrUnavailable: there was no answer from the log for a minute, or until Shutdown or Close gave up.
	// The operation may have taken hold: do it again.
	ErrUnavailable = partition.ErrUnavailable
	// ErrTooLarge: a key of more than 1 KiB, a value of more than 64 KiB, or a part of a Batch that
	// does not fit into a frame. Nothing of it took hold.
	ErrTooLarge = partition.ErrTooLarge
	// ErrDamaged: the log of the key's partition lacks something, or has something else than was
	// written. The other partitions go on.
	ErrDamaged = partition.ErrDamaged
)

const (
	maxKey   = 1 << 10
	maxValue = 64 << 10
)

// Config configures Open. Handle is needed, and Dir or Conn.
type Config[K comparable, V any] struct {
	// Dir is the directory in which a server inside the process keeps its files. It is for one
	// process at a time: a second one is refused. Several Opens of one process share it, each with
	// another Name.
	Dir string
	// Conn is a connection to NATS servers with JetStream, instead of Dir. Processes that open one Name
	// on the same servers share its timers. The connection must reconnect for as long as the process
	// is to go on (nats.MaxReconnects(-1)), and stays open until the end of Shutdown or Close.
	Conn *nats.Conn
	// Name is the name of this set of timers, default "timers". It has 1 to 64 of the characters
	// a-z, A-Z, 0-9, - and _.
	Name string
	// Partitions is the number of logs, at most 1024. 0 means as many as the name has, and 8 when it
	// is first made. Opening it with another number is ErrArgument.
	Partitions int
	// Replicas is how many servers have each log, with Conn. It is for logs that are made. 0 means 3, or
	// 1 where there is one server.
	Replicas int
	// Lease is how long a process that has died keeps its partitions, with Conn: others take them over
	// within 1.25 Lease. Default 10s. It is from 100ms to a day. Processes of one Name may have different
	// ones.
	Lease time.Duration
	// MaxSkew is how far the wall clock of this process may be off from that of the servers, with Conn, default
	// 5s. A process whose clock is off by more, or may be, takes no partitions over until it is right: others do.
	// It says so once a minute. What it owns already goes on. With a *clock.Mock nothing is compared.
	MaxSkew time.Duration
	// Concurrency limits how many handlers run at once, default 256.
	Concurrency int
	// MaxAttempts is how often a handler may fail before its timer is dead, default 16. Negative
	// means no limit.
	MaxAttempts int
	// Backoff is how long to wait after an attempt that failed, counted from 1. The default is a
	// second, doubled each time to at most ten minutes, half of it random. It must be safe for
	// concurrent use.
	Backoff func(attempt int) time.Duration
	// MaxPending limits the timers that are pending in each partition: setting a further one
	// returns ErrFull. 0 means no limit.
	MaxPending int
	// Precision is the shortest distance between the times that two wake-ups of a partition are
	// aimed at, default 1ms.
	Precision time.Duration
	// Clock tells the time, default clock.Precise(). With a *clock.Mock, when Add returns, the
	// handlers of what was due have returned, one after the other, and this is in the log.
	//
	// Set, Move and Backoff count time that passes on the clock. The system's clocks stand still while
	// the machine is suspended, on most systems: these timers are late by that time. SetAt goes by the
	// wall clock, which is looked at every 10s at least.
	Clock clock.Clock
	// Key and Value turn keys and values into bytes. By default strings, integers, arrays of bytes
	// and named types of these are keys as they are, and strings and []byte are values as they are.
	// All else is JSON.
	//
	// Equal keys must have equal bytes, and different keys different ones. JSON does not do that for
	// types with interfaces, pointers, channels or floats, or with fields that it leaves out: they are
	// not exported, or have the tag "-". For these Open returns ErrArgument. Types with methods of
	// their own, such as MarshalText, and structs with strings may do it or not: a key that is another
	// one when it is decoded is ErrArgument from the call. So is a string in a struct that is not
	// valid UTF-8.
	Key   Codec[K]
	Value Codec[V]
	// Handle is called with each timer that is due. If it returns nil, the timer has ended. If it
	// returns an error, panics, or exits its goroutine, it is called again after Backoff. While it
	// runs, Set, SetAt, Move and Remove of its key take hold: ctx is cancelled and its result is
	// ignored. Those that it calls itself with ctx, or a context derived from it, do not cancel ctx: a
	// handler can set its own key anew, and go on.
	//
	// It may be called before Open has returned, with what became due while no process was there. A
	// handler that uses the Keyed has to wait for it, for example for a channel that is closed after
	// Open.
	Handle func(ctx context.Context, f Firing[K, V]) error
	// Logger gets what an operator must know. By default it is discarded.
	Logger *slog.Logger
}

const (
	minLease           = 100 * time.Millisecond
	maxLease           = 24 * time.Hour
	maxReplicas        = 5 // of JetStream
	defaultSkew        = 5 * time.Second
	defaultConcurrency = 256
	defaultAttempts    = 16
)

// validate returns cfg with all defaults filled in, or ErrArgument.
func (cfg Config[K, V]) validate() (Config[K, V], error) {
	bad := func(format string, args ...any) (Config[K, V], error) {
		return cfg, fmt.Errorf("%w: %w", partition.ErrArgument, fmt.Errorf(format, args...))
	}
	if wrong := cfg.where(); wrong != "" {
		return bad("%s", wrong)
	}
	switch {
	case cfg.Handle == nil:
		return bad("Handle is nil")
	case cfg.Partitions < 0 || cfg.Partitions > jetstream.MaxPartitions:
		return bad("Partitions %d is not between 0 and %d", cfg.Partitions, jetstream.MaxPartitions)
	case cfg.Concurrency < 0:
		return bad("Concurrency %d is negative", cfg.Concurrency)
	case cfg.MaxPending < 0:
		return bad("MaxPending %d is negative", cfg.MaxPending)
	case cfg.MaxSkew < 0:
		return bad("MaxSkew %v is negative", cfg.MaxSkew)
	case cfg.Precision < 0:
		return bad("Precision %v is negative", cfg.Precision)
	}
	cfg.fillIn()
	if cfg.Key == nil {
		key, err := keyCodec[K]()
		if err != nil {
			return bad("%w", err)
		}
		cfg.Key = key
	}
	if !jetstream.ValidName(cfg.Name) {
		return bad("Name %q must have 1 to 64 of the characters a-z A-Z 0-9 - _", cfg.Name)
	}
	return cfg, nil
}

// where says what is wrong with the fields that say where the logs are, or "".
func (cfg *Config[K, V]) where() string {
	switch {
	case cfg.Conn != nil && cfg.Dir != "":
		return "there are both Dir and Conn"
	case cfg.Conn == nil && cfg.Dir == "":
		return "Dir is empty, and there is no Conn"
	case cfg.Conn != nil && cfg.Conn.Opts.NoEcho:
		return "Conn has the option NoEcho"
	case cfg.Conn == nil && (cfg.Replicas != 0 || cfg.Lease != 0):
		return "Replicas and Lease need Conn"
	case cfg.Replicas < 0 || cfg.Replicas > maxReplicas:
		return fmt.Sprintf("Replicas %d is not between 0 and %d", cfg.Replicas, maxReplicas)
	case cfg.Lease != 0 && (cfg.Lease < minLease || cfg.Lease > maxLease):
		return fmt.Sprintf("Lease %v is not between %v and %v", cfg.Lease, minLease, maxLease)
	}
	return ""
}

func (cfg *Config[K, V]) fillIn() {
	if cfg.MaxSkew == 0 {
		cfg.MaxSkew = defaultSkew
	}
	if cfg.Name == "" {
		cfg.Name = "timers"
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = defaultConcurrency
	}
	if cfg.MaxAttempts == 0 {
		cfg.MaxAttempts = defaultAttempts
	}
	if cfg.Backoff == nil {
		cfg.Backoff = backoff
	}
	if cfg.Precision == 0 {
		cfg.Precision = time.Millisecond
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Precise()
	}
	if cfg.Value == nil {
		cfg.Value = valueCodec[V]()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
}

const longestBackoff = 10 * time.Minute

// backoff is the default of Config.Backoff.
func backoff(attempt int) time.Duration {
	d := longestBackoff
	if attempt < 12 {
		d = min(d, time.Second<<max(0, attempt-1))
	}
	return d/2 + rand.N(d/2)
}

// owner says who owns a log, for people.
func owner() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// maxSkew is MaxSkew, or 0 for a clock that is not to be compared with others.
func (cfg *Config[K, V]) maxSkew() time.Duration {
	if clock.Virtual(cfg.Clock) {
		return 0
	}
	return cfg.MaxSkew
}
