package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// OpenShared opens a set and its table, or creates them. It waits for servers that are not ready, until ctx is done.
func OpenShared(ctx context.Context, cfg Config, logger *slog.Logger) (s storage.Set, err error) {
	err = untilOpen(ctx, cfg, logger, func(ctx context.Context, cfg Config) error {
		bucket := TableConfig{Conn: cfg.Conn, Name: cfg.Name}
		if _, err := FindTable(ctx, bucket); err != nil && !errors.Is(err, errUnopened) {
			return err
		}
		set, err := Open(ctx, cfg)
		if err != nil {
			return err
		}
		bucket.Replicas, s.Logs, s.Partitions = set.Replicas, set.Logs, len(set.Logs)
		s.Table, err = OpenTable(ctx, bucket)
		return err
	})
	s.Bus = NewBus(cfg.Conn)
	return s, err
}

// untilOpen calls open until it succeeds, or the servers have answered with an error, or ctx is done.
func untilOpen(ctx context.Context, cfg Config, logger *slog.Logger, open func(context.Context, Config) error) error {
	explain := func(err error) error { return Explain(cfg.Conn, err) }
	return untilAnswered(ctx, logger, explain, func(ctx context.Context, answered func()) error {
		if err := checkServer(cfg.Conn); err != nil {
			return err
		}
		cfg.Progress = answered
		return open(ctx, cfg)
	})
}

// errUnopened means that the set does not exist, or is not created completely yet.
var errUnopened = errors.New("no process that has a Handle has opened it yet")

// FindShared finds what OpenShared has created, for a caller. It creates nothing, and needs neither the logs nor
// permission to write. It waits, until ctx is done, for servers that are not ready and for the set.
func FindShared(ctx context.Context, cfg Config, logger *slog.Logger) (s storage.Set, err error) {
	err = untilOpen(ctx, cfg, logger, func(ctx context.Context, cfg Config) error {
		if s.Partitions, err = partitions(ctx, cfg); err != nil {
			return err
		}
		s.Table, err = FindTable(ctx, TableConfig{Conn: cfg.Conn, Name: cfg.Name})
		return err
	})
	s.Bus = NewBus(cfg.Conn)
	return s, err
}

// leastServer is the first version of NATS with everything that is needed: requests for several messages of a log at
// once, and deletions that the table of members forgets.
var leastServer = []int{2, 11}

// checkServer returns an error if the server of a connection is too old. It returns nil if the connection is down.
func checkServer(nc *nats.Conn) error {
	version := nc.ConnectedServerVersion()
	is := make([]int, 2)
	if _, err := fmt.Sscanf(version, "%d.%d", &is[0], &is[1]); err == nil && slices.Compare(is, leastServer) < 0 {
		return fmt.Errorf("the NATS server %q has version %s, and must have %d.%d or a later one",
			nc.ConnectedServerName(), version, leastServer[0], leastServer[1])
	}
	return nil
}

const (
	// Servers that have no leader yet never answer a request, so it is repeated. What an attempt has created remains.
	firstOpenTime = time.Second            // the limit of the first attempt without an answer; doubled for each further one
	openTime      = 5 * time.Second        // the highest limit
	openPause     = 200 * time.Millisecond // between two attempts
	settleTime    = 15 * time.Second       // time for servers to learn of each other, JetStream, and new streams
)

// untilAnswered repeats do until the servers have answered, or ctx is done. Servers that have just started, or lost one
// of them, have no leader for some seconds. Only if they respond for a while that they have no JetStream, or are too
// few for the replicas, does that count as an answer. An attempt may take any time, as long as it calls answered.
func untilAnswered(ctx context.Context, logger *slog.Logger, explain func(error) error,
	do func(ctx context.Context, answered func()) error) error {
	var unsettled time.Time // the time since which the servers have seemed to be unsettled
	said := ""
	for limit := firstOpenTime; ; limit = min(2*limit, openTime) {
		err := whileAnswered(ctx, limit, do)
		if !isUnsettled(err) {
			unsettled = time.Time{}
		} else if unsettled.IsZero() {
			unsettled = time.Now()
		}
		waits := isUnready(err) || errors.Is(err, errUnopened) || !unsettled.IsZero() && time.Since(unsettled) < settleTime
		if err = explain(err); err == nil || !waits {
			return err
		}
		if text := err.Error(); text != said {
			said = text
			logger.Warn("durable: the timers can't be opened yet", "err", err)
		}
		if wait.Sleep(ctx, openPause); ctx.Err() != nil {
			return afterAll(ctx, err)
		}
	}
}

// afterAll returns the error of a ctx that is done, together with what was being waited for.
func afterAll(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// whileAnswered calls do, and cancels the context of do when there was no answer for the time limit.
func whileAnswered(ctx context.Context, limit time.Duration, do func(context.Context, func()) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	err := do(ctx, func() { late.Reset(limit) })
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}
