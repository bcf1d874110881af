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
