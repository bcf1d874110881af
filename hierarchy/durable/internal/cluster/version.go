package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file shows how a process treats logs to which a later version of this program has written. It does not join. If
// it finds such a log later, it publishes in its record that it can't take the partition. Then no plan assigns it the
// partition.

const peekAtOnce = 8

// Peek reads the last frame of each log, and returns the errors: partition.ErrVersion if a later version has written to
// the log. The time limit for each log to respond is limit. Peek writes nothing.
func Peek(ctx context.Context, common partition.Config, logs []storage.Log, limit time.Duration) []error {
	return wait.All(len(logs), peekAtOnce, func(at int) error {
		cfg := common
		cfg.Log, cfg.Partition, cfg.Partitions = logs[at], at, len(logs)
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return partition.Peek(ctx, cfg)
	})
}

// readable returns an error if a later version of this program has written to one of the logs, since this process must
// not join. A log that does not respond may be readable, and is looked at again before it is claimed.
func (c *Cluster) readable(ctx context.Context) error {
	for _, err := range Peek(ctx, c.cfg.Common, c.cfg.Logs, lookTime) {
		if errors.Is(err, partition.ErrVersion) {
			return err
		}
	}
	return nil
}

// unreadable handles a log that could not be read. If a later version has written to the log, this process publishes
// that it can't take the partition. If it has the claim, it gives the claim up.
func (l *slot) unreadable(err error) error {
	if !errors.Is(err, partition.ErrVersion) {
		return err
	}
	if l.isNews(err) {
		l.c().cfg.Logger.Warn("durable: a log has a later version, and is left to others", "partition", l.at, "err", err)
	}
	l.unfollow()
	l.s.member.SetUnable(l.at, true)
	if l.s.now().view.Claims[l.at].Holder == l.me() {
		l.giveClaim(0)
	}
	return err
}
