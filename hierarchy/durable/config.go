package durable

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// The errors of this package. They may be wrapped, so compare with errors.Is. The first three are the errors of package
// hierarchy, but their texts begin with "durable" when this package returns them.
var (
	ErrClosed   = hierarchy.ErrClosed
	ErrFull     = hierarchy.ErrFull
	ErrArgument = hierarchy.ErrArgument
	// ErrUnavailable means that the log did not answer for a minute, or until Shutdown or Close gave up. The operation
	// may have been committed: retry it.
	ErrUnavailable = partition.ErrUnavailable
	// ErrTooLarge is for a key of more than 1 KiB, a value of more than 64 KiB, or a Batch with too many operations for
	// one partition (see Keyed.Batch). Such operations are not committed.
	ErrTooLarge = core.ErrTooLarge
	// ErrDamaged means that data in the log of the key's partition is missing or was altered. The other partitions go
	// on.
	ErrDamaged = partition.ErrDamaged
	// ErrIncomplete means that Import has read all lines, but that lines are missing: the last one does not tell how many
	// timers there are, or tells another number. The lines that are there are imported.
	ErrIncomplete = errors.New("durable: the lines are not complete")
	// ErrTimeout is the cause with which a handler's context ends after Config.Timeout.
	ErrTimeout = partition.ErrTimeout
)

const (
	maxKey   = 1 << 10
	maxValue = 64 << 10
)

// Config configures Open. Dir or Conn is required. With Dir, Handle or Announce is required, too.
type Config[K comparable, V any] struct {
	// Dir is the directory with the log. Only one process at a time can open it. Several Opens of one process can share
	// it, each with a Name of its own, and a log of its own.
	Dir string
	// Conn is a connection to NATS servers with JetStream, instead of Dir. Processes that open the same Name on the
	// same servers share its timers. The connection must reconnect without limit (nats.MaxReconnects(-1)), and stay
	// open until Shutdown or Close has returned.
	Conn *nats.Conn
	// Name is the name of this set of timers, default "timers". It has 1 to 64 of the characters
	// a-z, A-Z, 0-9, - and _.
	Name string
	// Partitions is the number of logs, with Conn, at most 1024, by default 8. It is fixed when the name is first opened.
	// After that, 0 means the number that the name has, and any other number is ErrArgument. In a directory, a name has
	// one log, whatever Partitions says: it is one partition.
	Partitions int
	// Replicas is the number of servers that store each log, with Conn. It applies to logs that Open
	// creates. 0 means 3, or 1 if there is a single server.
	Replicas int
	// Lease, with Conn, limits how long the partitions of a process that has died have no owner: other processes take
	// them over after 1.25 Lease. From 100ms to a day, default 10s. Processes of one Name may have different leases.
	Lease time.Duration
	// MaxSkew, with Conn, is how far the wall clock of this process may be off from that of the servers, default 5s. A
	// process whose clock is or may be off by more logs a warning once a minute. Until its clock is right, it takes
	// over no partitions, and leaves them to other processes. It keeps the partitions that it owns. With a *clock.Mock
	// the clocks are not compared.
	MaxSkew time.Duration
	// Concurrency limits how many handlers run at once, default 256.
	Concurrency int
	// Timeout limits each attempt, by Clock; 0 means no limit. When it has passed, the context of the attempt ends: its
	// Err is context.DeadlineExceeded, and its Cause ErrTimeout. The attempt has then failed once Handle returns, even
	// if it returns nil. If Handle has not returned after twice the Timeout, the attempt has failed as well: it is
	// tried again after Backoff, and its place under Concurrency is free. A handler that was given up in this way is
	// stuck until it returns: Stats().Stuck counts it, its result will be ignored, and Shutdown does not wait for it.
	// The next attempt may run at the same time.
	Timeout time.Duration
	// MaxAttempts is the number of failed attempts after which a timer is dead, default 16. Negative
	// means no limit.
	MaxAttempts int
	// KeepDead is the time after a timer's death at which the timer is removed. 0 means that dead timers are kept for
	// ever. The time also passes while no process runs.
	KeepDead time.Duration
	// OnDead, if not nil, is called when a timer has died in this process, or when a run of a Schedule has failed
	// MaxAttempts times, with the Firing and the error of the last attempt. The death is in the log by then: OnDead is
	// not called again after a crash, and a crash may prevent the call altogether. The call counts under Concurrency,
	// and Shutdown waits for it.
	OnDead func(f Firing[K, V], last error)
	// Trace, if not nil, links attempts to the calls that set their timers.
	Trace Tracer
	// Backoff returns how long to wait after a failed attempt, counted from 1. The default is a
	// second, doubled each time to at most ten minutes, half of it random. It must be safe for
	// concurrent use.
	Backoff func(attempt int) time.Duration
	// MaxPending limits the number of timers that are pending in each partition, with Dir in all: setting another one
	// returns ErrFull. 0
	// means no limit. Dead timers don't count. A timer with a Schedule counts once.
	MaxPending int
	// Precision is the minimum time between two wake-ups of a partition, default 1ms.
	Precision time.Duration
	// Clock provides the time, default clock.Precise(). With a *clock.Mock, when Add returns, the handlers of all
	// timers that were due have returned, one after the other, and their results are in the log. With Timeout, Add
	// waits for each handler for at most two seconds of real time, or in a bubble of testing/synctest until all
	// goroutines are blocked. A handler that has not returned by then is taken to wait for its context: Add moves on
	// without it, and waits for it again when its context ends. Without Timeout a handler that does not return blocks
	// Add.
	//
	// Set, Move and Backoff count time that passes on the clock. On most systems the clock stands still while the
	// machine is suspended, so these timers are late by that time. SetAt and MoveAt follow the wall clock, which is
	// read at least every 10s.
	Clock clock.Clock
	// Key and Value encode keys and values as bytes. By default keys that are strings, integers, arrays of bytes or
	// named types of these are stored as they are, and so are values that are strings or []byte. Everything else is
	// encoded as JSON.
	//
	// Equal keys must have equal bytes, and different keys different bytes. JSON does not guarantee that for types with
	// interfaces, pointers, channels or floats, or with fields that it omits (unexported, or with the tag "-"): for
	// these Open returns ErrArgument. For structs with strings, and for types with methods such as MarshalText, whether
	// JSON guarantees that depends on the key: a call with a key that does not survive encoding, such as a string that
	// is not valid UTF-8, returns ErrArgument.
	Key   Codec[K]
	Value Codec[V]
	// Handle is called for each timer that is due. If it returns nil, the timer has ended. If it returns an error,
	// panics, or exits its goroutine, it is called again after Backoff. Set, SetAt, Move and Remove of the key are
	// committed even while Handle runs: then ctx is cancelled and the result of Handle is ignored. Calls that Handle
	// makes itself with ctx, or a context derived from it, do not cancel ctx: a handler can set its own key again, and
	// go on.
	//
	// Handle may be called before Open has returned, for timers that became due while no process was running. A handler
	// that uses the Keyed has to wait for it, for example for a channel that is closed after Open.
	//
	// A process with Conn and without Handle or Announce is a caller. All methods work, by messages to the processes
	// that have a Handle, and calls return ErrUnavailable after a minute without an answer. A caller owns no partition,
	// so nothing fires in it. It has no lease, creates no streams, and reads no log. Shutdown and Close end it at once.
	// The fields of Config that it uses are Conn, Name, Partitions, Clock, Key, Value and Logger.
	Handle func(ctx context.Context, f Firing[K, V]) error
	// Announce, instead of Handle, is called for each timer that is due, and its attempt begins when Begin is called
	// with its key and ID. Begin may be called much later, in any order, or never. In the log, a timer that waits for
	// Begin is due, so the next owner of its partition announces it again. An attempt ends with End. So an attempt
	// needs no goroutine, and no place under Concurrency, which does not apply. Timeout must be 0: the caller of Begin
	// decides how long an attempt may take. A timer that is tried again is announced again. Announce may be called
	// before Open has returned. It must return soon, as no other timer of the partition fires meanwhile, and must not
	// call methods of the Keyed.
	Announce func(f Firing[K, V])
	// Withdrawn, if not nil, is called when a timer that was passed to Announce does not wait for Begin any more,
	// although Begin was not called: it was set, moved or removed, or this process has given its partition up. What the
	// caller of Begin keeps of the timer can be dropped. For one key, the calls of Announce and Withdrawn are in the order
	// of what has happened; to tell them apart, compare the ID. Withdrawn may also be called for a timer that was not
	// passed to Announce. The rules of Announce apply to it.
	Withdrawn func(f Firing[K, V])
	// Logger receives what an operator should know. By default it is discarded.
	Logger *slog.Logger
}

const (
	minLease           = 100 * time.Millisecond
	maxLease           = 24 * time.Hour
	maxReplicas        = 5 // JetStream's limit
	defaultSkew        = 5 * time.Second
	defaultConcurrency = 256
	defaultAttempts    = 16
)
