package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// openDir opens the partitions of a directory. It fails as soon as the server reports a problem, since the logs would
// not answer until the problem is solved.
func openDir(ctx context.Context, cfg config) (*dir, error) {
	server, err := embedded.Open(ctx, cfg.dir, cfg.logger)
	if err != nil {
		return nil, corrupt(err)
	}
	d := &dir{cfg: cfg, server: server, unwatch: func() {}}
	d.Here = d.Partition
	if d.name, err = takeName(server.Server, cfg.name); err != nil {
		d.Close()
		return nil, err
	}
	open := ctx
	ctx, end := context.WithCancelCause(open)
	defer end(nil)
	defer server.OnProblem(func(problem error) { end(reason{problem}) })()
	stop := server.OnCorrupt(func(stream string, err error) {
		for at := range jetstream.MaxPartitions { // the number of partitions is not known yet
			if d.uses(at, stream) {
				end(reason{err})
				return
			}
		}
	})
	err = d.open(ctx, end)
	stop()
	if err == nil {
		d.ready.Store(true)
		d.unwatch = server.OnCorrupt(d.damaged)
		return d, nil
	}
	if why, ok := errors.AsType[reason](context.Cause(ctx)); ok {
		err = why.error
	}
	err = d.because(open, err)
	d.Close()
	return nil, storage.In(cfg.dir, corrupt(err))
}

const (
	problemTime  = 2 * time.Second
	problemPause = 10 * time.Millisecond
)

// because returns why Open fails: the server's problem if it has one, otherwise err. A server that did not respond may
// have a problem that it has not reported yet, so this method waits for the report.
func (d *dir) because(ctx context.Context, err error) error {
	begun := time.Now()
	for errors.Is(err, nats.ErrNoResponders) && d.server.Problem() == nil && time.Since(begun) < problemTime {
		time.Sleep(problemPause)
	}
	if problem := d.server.Problem(); problem != nil {
		return problem
	}
	explained := []error{ErrArgument, ErrDamaged, embedded.ErrCorrupt, jetstream.ErrPartitions, partition.ErrVersion}
	if slices.ContainsFunc(explained, func(kind error) bool { return errors.Is(err, kind) }) {
		return err
	}
	return d.server.Because(ctx, err)
}

// corrupt wraps an error of Open in ErrDamaged if the server has found damage. It is not for the errors of calls during
// which the server finds damage: those remain ErrUnavailable, since the call may have been committed.
func corrupt(err error) error {
	if errors.Is(err, embedded.ErrCorrupt) {
		return storage.Because(ErrDamaged, err)
	}
	return err
}

// reason is the cause with which Open itself cancels the context of its partitions.
type reason struct{ error }

func (d *dir) open(ctx context.Context, end context.CancelCauseFunc) error {
	set, err := d.set(ctx)
	if err != nil {
		return err
	}
	if err := refuseLater(ctx, set.Logs); err != nil {
		return err
	}
	common := d.cfg.common
	common.Cause, common.Gate = d.server.Problem, partition.NewGate(gatePlaces)
	common.Tenure = d.owns
	common.Progress = new(partition.Progress)
	begun := time.Now()
	reading, stop := context.WithCancel(ctx)
	defer stop()
	go d.logProgress(reading, common.Progress)
	d.parts = openAll(end, len(set.Logs), func(at int) (*partition.Partition, error) {
		cfg := common
		cfg.Log, cfg.Partition, cfg.Partitions = set.Logs[at], at, len(set.Logs)
		return partition.Open(ctx, cfg)
	})
	return d.opened(begun)
}

// refuseLater returns an error if a later version of this program has written to one of the logs. It is called before
// anything is written to any of the logs.
func refuseLater(ctx context.Context, logs []storage.Log) error {
	for _, err := range cluster.Peek(ctx, partition.Config{}, logs, peekTime) {
		if errors.Is(err, partition.ErrVersion) {
			return err
		}
	}
	return nil
}

// peekTime is the timeout of refuseLater for each log.
const peekTime = 5 * time.Second

// set opens the logs, and creates them if the set has never been opened.
func (d *dir) set(ctx context.Context) (*jetstream.Set, error) {
	made, alike, err := d.server.HasSet(d.cfg.name)
	if err == nil && alike != "" {
		err = fmt.Errorf("%w: this directory has the Name %q, which some file systems do not tell from %q",
			core.ErrArgument, alike, d.cfg.name)
	}
	if err != nil {
		return nil, err
	}
	made = made || d.server.Aside(jetstream.MarksStream(d.cfg.name)) != nil
	set, err := jetstream.Open(ctx, d.logs(d.server.Conn(), made))
	if err == nil && !made {
		err = d.server.NoteSet(d.cfg.name)
	}
	if errors.Is(err, ErrDamaged) {
		err = d.why(err, jetstream.MarksStream(d.cfg.name))
	}
	return set, err
}

// requestTime is the timeout of a request. It is long because a retry would not help: a request to a server in this
// process is never lost, so if there is no answer, the machine is busy, or an answer will never come.
const requestTime = time.Minute

func (d *dir) logs(nc *nats.Conn, made bool) jetstream.Config {
	return jetstream.Config{Conn: nc, Name: d.cfg.name, Partitions: d.cfg.partitions, Replicas: 1, Made: made,
		Longest: requestTime}
}

// openAll opens n partitions concurrently. When opening one of them fails for a reason other than damage, the other
// openings are cancelled.
func openAll(end context.CancelCauseFunc, n int, open func(at int) (*partition.Partition, error)) []part {
	parts := make([]part, n)
	wait.All(n, n, func(at int) (err error) {
		if parts[at].Partition, err = open(at); err != nil {
			parts[at].fail(err)
			if !errors.Is(err, ErrDamaged) {
				end(reason{err})
			}
		}
		return err
	})
	return parts
}

// gatePlaces limits the number of appends that are in flight at once. With eight partitions and 256 callers on two
// processors, a limit of two has twice the throughput of no limit. With 16 callers, a limit of three has less than two:
// a sync occupies a P of the Go runtime.
const gatePlaces = 2

// logProgress logs each second, until ctx is done, how many frames of the logs have been read.
func (d *dir) logProgress(ctx context.Context, p *partition.Progress) {
	for wait.Sleep(ctx, time.Second) {
		d.cfg.logger.Info("durable: reading the logs", "dir", d.cfg.dir, "name", d.cfg.name,
			"read", p.Read.Load(), "of", p.Of.Load())
	}
}

// opened returns the first problem of a partition. Damage does not count, since Open succeeds with damaged logs.
func (d *dir) opened(begun time.Time) error {
	for at := range d.parts {
		p := &d.parts[at]
		switch err := p.problem(); {
		case errors.Is(err, ErrDamaged):
			d.setDamaged(p, d.why(err, jetstream.LogStream(d.cfg.name, at)))
		case err != nil:
			return err
		}
	}
	if took := time.Since(begun); took > time.Second {
		d.cfg.logger.Info("durable: the logs are read", "dir", d.cfg.dir, "name", d.cfg.name, "took", took)
	}
	return nil
}
