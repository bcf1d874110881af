package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/schedule"
)

// The errors of calls. Calls return them wrapped. The first three wrap those of package hierarchy, with texts that
// begin with the name of this module.
var (
	ErrClosed      error = &alias{"durable: the timers are closed", hierarchy.ErrClosed}
	ErrFull        error = &alias{"durable: the partition is full: MaxPending timers are pending", hierarchy.ErrFull}
	ErrArgument    error = &alias{"durable: bad argument", hierarchy.ErrArgument}
	ErrUnavailable       = errors.New("durable: there is no answer from the log")
	// ErrNotOwner means that another process owns the partition, or will own it. The call is not committed. It wraps
	// ErrUnavailable.
	ErrNotOwner = fmt.Errorf("%w: this process does not own the partition", ErrUnavailable)
	ErrTooLarge = errors.New("durable: too large")
	ErrDamaged  = storage.ErrDamaged
	// ErrSchedule is for a schedule that has no run, or that the owner can't parse, for example because the owner does
	// not know the time zone.
	ErrSchedule = fmt.Errorf("%w: the owner of the partition can't read the schedule, or it has no run", ErrArgument)
	// ErrVersion means that a later version of this program has written to the log, which is not damage.
	ErrVersion = frame.ErrVersion
)

// alias is an error of another package with another text.
type alias struct {
	text string
	of   error
}

func (a *alias) Error() string { return a.text }
func (a *alias) Unwrap() error { return a.of }

// Config configures a partition. All fields are needed unless their comments say otherwise.
type Config struct {
	Log                   storage.Log
	Partition, Partitions int
	Clock                 clock.Clock
	Precision             time.Duration
	MaxPending            int // 0: no limit
	MaxAttempts           int // 0: no limit
	Backoff               func(attempt int) time.Duration
	Handle                func(context.Context, Firing) error
	// Announce, if not nil, is called instead of Handle with each timer that is due. A lock of the partition is held
	// during the call. The attempt begins when Begin is called. An error of Announce counts as an error of the attempt.
	Announce func(Firing) error
	// Withdrawn, if not nil, is called like Announce, when a timer does not wait for Begin any more although Begin was not
	// called: it was set, moved or removed, or the partition has ended. It may also be called for a timer that was not
	// announced.
	Withdrawn func(Firing)
	OnDead    func(Firing, error) // called when a timer, or a run of a schedule, has died; may be nil
	KeepDead  time.Duration       // how long dead timers are kept; 0: for ever
	Crew      *Crew
	Gate      *Gate // may be nil
	Logger    *slog.Logger
	// Tenure reports whether this process still owns the partition. If it is nil, the process owns the partition until
	// Close. It is called with a lock of the partition held. When it becomes true again, call Resume.
	Tenure func() bool
	// Doubted, if not nil, is called when a frame gets no clear answer. It must return at once.
	Doubted func(error)
	// Cause returns why the log does not answer, if that is known. It may be nil.
	Cause    func() error
	Owner    string           // names the owner of the log, for people who read it
	Patience storage.Patience // may be zero
	// Fits, if not nil, returns an error if the wall clock is too far off for a takeover of the log.
	Fits func() error
	// MaxAhead limits how far the owner's time may begin ahead of the wall clock, in order to continue from the time of
	// the last frame. With 0 the owner's time begins at the wall time, even if the wall clock has been set back.
	MaxAhead time.Duration
	GiveUp   time.Duration // time without an answer after which a call fails with ErrUnavailable; default a minute
	EndTime  time.Duration // limit for the last frame and the mark if Shutdown's context has no deadline; default 5s
	// TrimAbove is the number of bytes that the log may have in addition to what trimmer.excess allows for live data,
	// default 2 MiB.
	TrimAbove int64
	MarkEvery time.Duration // the least time between two writes of the mark; default a second
	Progress  *Progress     // counts the frames that are read; may be nil
	// Remember is the time for which an idle caller with Requests is remembered, default state.Remember. All owners of
	// a log must use the same time.
	Remember time.Duration
}

// Progress counts frames of all logs that are being read. Read counts the frames that have been read, and Of all
// frames.
type Progress struct{ Read, Of atomic.Int64 }

// isLast reports whether a timer is dead when the attempt with that number fails.
func (cfg *Config) isLast(attempt uint32) bool {
	return cfg.MaxAttempts > 0 && int64(attempt) >= int64(cfg.MaxAttempts)
}

// warnOfDeath logs that a timer is dead, if the item is the timer's last failed attempt.
func (cfg *Config) warnOfDeath(it *item) {
	if !it.last {
		return
	}
	text := "durable: a timer is dead"
	if it.job.schedule != (schedule.Schedule{}) {
		text = "durable: a run of a schedule has failed for good"
	}
	cfg.Logger.Warn(text, "partition", cfg.Partition, "key", string(it.job.key), "attempt", it.job.attempt, "err", it.cause)
}

// frameBytes returns the largest number of bytes of a frame that holds more than one call.
func (cfg *Config) frameBytes() int { return min(frameBytes, cfg.Log.MaxMessage()) }

// because returns err wrapped with the reason why the log does not answer, if the reason is known.
func (cfg *Config) because(err error) error {
	if cause := cfg.Cause(); cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

func (cfg *Config) fillIn() {
	if cfg.Tenure == nil {
		cfg.Tenure = func() bool { return true }
	}
	if cfg.Fits == nil {
		cfg.Fits = func() error { return nil }
	}
	if cfg.Doubted == nil {
		cfg.Doubted = func(error) {}
	}
	if cfg.Cause == nil {
		cfg.Cause = func() error { return nil }
	}
	cfg.GiveUp = cmp.Or(cfg.GiveUp, time.Minute)
	cfg.EndTime = cmp.Or(cfg.EndTime, 5*time.Second)
	cfg.TrimAbove = cmp.Or(cfg.TrimAbove, 2<<20)
	cfg.MarkEvery = cmp.Or(cfg.MarkEvery, time.Second)
	cfg.Remember = cmp.Or(cfg.Remember, state.Remember)
	cfg.Patience.Doubt = cfg.Doubted // for frames that are written before the partition is open
	if cfg.Progress == nil {
		cfg.Progress = new(Progress)
	}
}

// Firing is what a handler is called with.
type Firing struct {
	Partition  int
	Key, Value string
	Due        int64
	Attempt    uint32
	ID         frame.ID
	Epoch      uint64
	Schedule   string // the text of the timer's schedule, or ""
	Missed     uint32 // the number of missed runs of the schedule that this run makes up for
	Trace      string // the trace context of the call that has set the timer, or ""
}

const (
	// MaxSchedule and MaxTrace are the largest numbers of bytes of a schedule's text and of a trace context.
	MaxSchedule = 1 << 10
	MaxTrace    = 64
	// MaxOps is the largest number of operations of a call. It is also the largest number of operations of a frame, not
	// counting those that trimming adds.
	MaxOps = 2000
	// frameBytes is the size at which a frame of more than one call is full.
	frameBytes = 1 << 20
	// opBytes is an upper bound for what an operation takes in a frame apart from its key and value.
	opBytes = 64
)

// firing returns the argument with which the handler of an attempt of the timer is called.
func (cfg *Config) firing(t *state.Timer, attempt uint32, epoch uint64) Firing {
	return Firing{
		Partition: cfg.Partition,
		Key:       t.Key, Value: t.Value, Due: t.Due, Attempt: attempt, ID: t.ID, Epoch: epoch,
		Schedule: t.Schedule, Missed: t.Missed, Trace: t.Trace,
	}
}
