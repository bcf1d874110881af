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
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// The errors of calls that were not answered. Calls return them wrapped, like those of package core.
var (
	ErrUnavailable = errors.New("durable: there is no answer from the log")
	// ErrNotOwner means that another process owns the partition, or will own it. The call is not committed. It wraps
	// ErrUnavailable.
	ErrNotOwner = fmt.Errorf("%w: this process does not own the partition", ErrUnavailable)
	ErrDamaged  = storage.ErrDamaged
	// ErrVersion means that a later version of this program has written to the log, which is not damage.
	ErrVersion = frame.ErrVersion
)

// Config configures a partition. All fields are needed unless their comments say otherwise.
type Config struct {
	core.Config
	Log        storage.Log
	Partitions int
	Clock      clock.Clock
	Precision  time.Duration
	Handle     func(context.Context, core.Firing) error
	// Announce, if not nil, is called instead of Handle with each timer that is due. A lock of the partition is held
	// during the call. The attempt begins when Begin is called. An error of Announce counts as an error of the attempt.
	Announce func(core.Firing) error
	// Withdrawn, if not nil, is called like Announce, when a timer does not wait for Begin any more although Begin was not
	// called: it was set, moved or removed, or the partition has ended. It may also be called for a timer that was not
	// announced.
	Withdrawn func(core.Firing)
	OnDead    func(core.Firing, error) // called when a timer, or a run of a schedule, has died; may be nil
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
	MaxAhead  time.Duration
	GiveUp    time.Duration // time without an answer after which a call fails with ErrUnavailable; default a minute
	EndTime   time.Duration // limit for the last frame and the mark if Shutdown's context has no deadline; default 5s
	MarkEvery time.Duration // the least time between two writes of the mark; default a second
	Progress  *Progress     // counts the frames that are read; may be nil
}

// Progress counts frames of all logs that are being read. Read counts the frames that have been read, and Of all
// frames.
type Progress struct{ Read, Of atomic.Int64 }

// warnOfDeath logs that a timer is dead, if the event is the timer's last failed attempt.
func (cfg *Config) warnOfDeath(e *core.Event) {
	if !e.Last {
		return
	}
	text := "durable: a timer is dead"
	if e.Job.HasSchedule() {
		text = "durable: a run of a schedule has failed for good"
	}
	cfg.Logger.Warn(text, "partition", cfg.Partition, "key", string(e.Job.Key), "attempt", e.Job.Number, "err", e.Cause)
}

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
	cfg.Withdraws = cfg.Withdrawn != nil
	cfg.Patience.Doubt = cfg.Doubted // for frames that are written before the partition is open
	if cfg.Progress == nil {
		cfg.Progress = new(Progress)
	}
}
