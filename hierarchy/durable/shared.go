package durable

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// sharedConfig is for Config.Conn: the partitions are shared with other processes.
type sharedConfig struct {
	conn       *nats.Conn
	name       string
	partitions int
	replicas   int
	lease      time.Duration
	maxSkew    time.Duration
	calls      bool // this process owns nothing
	common     partition.Config
	logger     *slog.Logger
}

// Servers take about six seconds to elect another leader for a log.
const (
	answerTime = time.Second      // how long to wait for an answer before retrying
	endTime    = 15 * time.Second // how long Shutdown waits for a log if its context has no deadline
)

// openShared joins the processes that share the name, and creates the logs if there are none. A caller only finds them.
func openShared(ctx context.Context, cfg sharedConfig) (owners, error) {
	find := jetstream.OpenShared
	if cfg.calls {
		find = jetstream.FindShared
	}
	found, err := find(ctx, jetstream.Config{Conn: cfg.conn, Name: cfg.name, Partitions: cfg.partitions,
		Replicas: cfg.replicas}, cfg.logger)
	if err != nil {
		return nil, err
	}
	c, err := cfg.open(ctx, found)
	if err != nil {
		return nil, storage.In(strconv.Quote(cfg.name), jetstream.Explain(cfg.conn, err))
	}
	return c, nil
}

// open opens this process's part.
func (cfg *sharedConfig) open(ctx context.Context, s storage.Set) (owners, error) {
	common := cfg.common
	common.Patience.Answer, common.EndTime, common.Gate = answerTime, endTime, partition.NewLearningGate()
	common.Cause = s.Bus.Offline
	shared := cluster.Config{
		Bus: s.Bus, Name: cfg.name, Logs: s.Logs, Common: common, MaxSkew: cfg.maxSkew,
		Logger: cfg.logger.With("name", cfg.name),
		Member: member.Config{Store: s.Table, Lease: cfg.lease, Text: owner(), Partitions: s.Partitions},
	}
	if cfg.calls {
		return orNil(cluster.OpenCaller(ctx, shared))
	}
	return orNil(cluster.Open(ctx, shared))
}

// orNil returns an interface that is nil if there is an error.
func orNil[T owners](c T, err error) (owners, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}
