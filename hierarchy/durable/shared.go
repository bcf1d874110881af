package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/stream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jsapi"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table/kv"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// shared is the owners of a set with Config.Conn: the partitions are shared with other processes.
type shared struct {
	*cluster.Cluster
	partitions int
}

type sharedConfig struct {
	conn       *nats.Conn
	name       string
	partitions int
	replicas   int
	lease      time.Duration
	maxSkew    time.Duration
	common     partition.Config
	logger     *slog.Logger
}

// The leader of a log may go. Servers have another one after some six seconds.
const (
	answerTime = time.Second      // after which a server that has not answered is asked again
	endTime    = 15 * time.Second // that Shutdown waits for a log, if its context has no deadline
)

// openShared joins the processes that share the name, and makes the logs if there are none.
func openShared(ctx context.Context, cfg sharedConfig) (*shared, error) {
	var set *stream.Set
	var table *kv.Store
	err := untilAnswered(ctx, cfg.logger, func(ctx context.Context, answered func()) (err error) {
		if err = checkServer(cfg.conn); err != nil {
			return err
		}
		if err = kv.Check(ctx, kv.Config{Conn: cfg.conn, Name: cfg.name}); err == nil {
			set, err = stream.Open(ctx, stream.Config{Conn: cfg.conn, Name: cfg.name, Partitions: cfg.partitions,
				Replicas: cfg.replicas, Progress: answered})
		}
		if err == nil {
			table, err = kv.Open(ctx, kv.Config{Conn: cfg.conn, Name: cfg.name, Replicas: set.Replicas})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	logger := cfg.logger.With("name", cfg.name)
	common := cfg.common
	common.Patience.Answer, common.EndTime, common.Gate = answerTime, endTime, partition.NewLearningGate()
	common.Cause = func() error { return remote.Closed(cfg.conn) }
	logs := make([]journal.Log, len(set.Logs))
	for at, log := range set.Logs {
		logs[at] = log
	}
	c, err := cluster.Open(ctx, cluster.Config{
		Conn: cfg.conn, Name: cfg.name, Logs: logs, Common: common, Logger: logger, MaxSkew: cfg.maxSkew,
		Member: member.Config{Store: table, Lease: cfg.lease, Text: owner()},
	})
	if err != nil {
		return nil, fmt.Errorf("%q: %w", cfg.name, err)
	}
	return &shared{c, len(logs)}, nil
}

const (
	// What is asked of servers that have no leader yet gets no answer, also when they have one. What a try
	// has made stays.
	firstOpenTime = time.Second            // without an answer, in the first try; then doubled
	openTime      = 5 * time.Second        // at most
	openPause     = 200 * time.Millisecond // between two
	settleTime    = 15 * time.Second       // until servers must know of each other, of JetStream, and of all that was made
)

// untilAnswered does something until the servers have answered, or ctx is done. Servers that have just
// begun, or lost one of them, have no leader for some seconds. If they say for a while that they have no
// JetStream, or are too few for the replicas, this is so. A try may take as long as it likes, as long as it
// calls answered.
func untilAnswered(ctx context.Context, logger *slog.Logger, do func(ctx context.Context, answered func()) error) error {
	var unsettled time.Time // since when they seem to be
	for limit := firstOpenTime; ; limit = min(2*limit, openTime) {
		err := whileAnswered(ctx, limit, do)
		if !jsapi.IsUnsettled(err) {
			unsettled = time.Time{}
		} else if unsettled.IsZero() {
			unsettled = time.Now()
		}
		waits := jsapi.IsUnready(err) || !unsettled.IsZero() && time.Since(unsettled) < settleTime
		if err == nil || !waits {
			return err
		}
		logger.Warn("durable: the servers are not ready", "err", err)
		if wait.Sleep(ctx, openPause); ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// whileAnswered does something, and ends it when there was no answer for so long.
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

func (s *shared) Len() int { return s.partitions }
