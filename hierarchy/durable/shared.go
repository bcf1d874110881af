package durable

import (
	"context"
	"strconv"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Servers take about six seconds to elect another leader for a log.
const (
	answerTime = time.Second      // the time without an answer after which a request is sent again
	endTime    = 15 * time.Second // limit of Shutdown's wait for a log if its context has no deadline
)

// openShared joins the processes that share the name, and creates the logs if there are none. A caller creates no logs.
func openShared(ctx context.Context, cfg config) (owners, error) {
	find := jetstream.OpenShared
	if cfg.caller {
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

// open joins the processes that share the set, or makes this process a caller. If it returns an error, the owners are
// not usable.
func (cfg *config) open(ctx context.Context, s storage.Set) (owners, error) {
	common := cfg.common
	common.Patience.Answer, common.EndTime, common.Gate = answerTime, endTime, partition.NewLearningGate()
	common.Cause = s.Bus.Offline
	shared := cluster.Config{
		Bus: s.Bus, Name: cfg.name, Logs: s.Logs, Common: common, MaxSkew: cfg.maxSkew,
		Logger: cfg.logger.With("name", cfg.name),
		Member: member.Config{Store: s.Table, Lease: cfg.lease, Text: owner(), Partitions: s.Partitions},
	}
	if cfg.caller {
		return cluster.OpenCaller(ctx, shared)
	}
	return cluster.Open(ctx, shared)
}
