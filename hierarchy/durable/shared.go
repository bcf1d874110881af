package durable

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// shared implements owners for Config.Conn: the partitions are shared with other processes.
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

// Servers take about six seconds to elect another leader for a log.
const (
	answerTime = time.Second      // how long to wait for an answer before retrying
	endTime    = 15 * time.Second // how long Shutdown waits for a log if its context has no deadline
)

// openShared joins the processes that share the name, and creates the logs if there are none.
func openShared(ctx context.Context, cfg sharedConfig) (*shared, error) {
	storage, err := jetstream.OpenShared(ctx, jetstream.Config{Conn: cfg.conn, Name: cfg.name, Partitions: cfg.partitions,
		Replicas: cfg.replicas}, cfg.logger)
	if err != nil {
		return nil, err
	}
	logger := cfg.logger.With("name", cfg.name)
	common := cfg.common
	common.Patience.Answer, common.EndTime, common.Gate = answerTime, endTime, partition.NewLearningGate()
	common.Cause = storage.Bus.Closed
	c, err := cluster.Open(ctx, cluster.Config{
		Bus: storage.Bus, Name: cfg.name, Logs: storage.Logs, Common: common, Logger: logger, MaxSkew: cfg.maxSkew,
		Member: member.Config{Store: storage.Table, Lease: cfg.lease, Text: owner()},
	})
	if err != nil {
		return nil, journal.In(strconv.Quote(cfg.name), err)
	}
	return &shared{c, len(storage.Logs)}, nil
}

func (s *shared) Len() int { return s.partitions }
