package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file shows how a process leaves logs to which a later version of this program has written to other processes.
// The process publishes in its record which logs it can't read. Then no plan assigns it the partitions of these logs.
// So while one version replaces another, each process owns partitions whose logs it can read.

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

// unreadable returns the partitions whose logs this program can't read. If this program can't read any of the logs, it
// returns an error, since this process must not join. A log that does not respond may be readable, and is looked at
// again before it is claimed.
func (c *Cluster) unreadable(ctx context.Context) (all []int, err error) {
	readable := false
	for at, failed := range Peek(ctx, c.cfg.Common, c.cfg.Logs, lookTime) {
		if !errors.Is(failed, partition.ErrVersion) {
			readable = true
			continue
		}
		all, err = append(all, at), failed
		c.cfg.Logger.Warn("durable: a log has a later version, and is left to others", "partition", at, "err", failed)
	}
	if readable {
		err = nil
	}
	return all, err
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

// versions returns the latest versions of frames and of messages that all members of a view read. So while one version
// of this program replaces another, each member can take over from any other. If the other members see a member of an
// earlier version too late, that member finds logs that it can't read, and leaves them to others.
func versions(view *member.View) (frames, wire int) {
	frames, wire = frame.Version, remote.Latest
	for _, p := range view.Members {
		frames = min(frames, p.Log)
		wire = min(wire, p.Wire)
	}
	return max(frames, frame.First), wire
}
