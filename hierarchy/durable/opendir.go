package durable

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/anchor"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/directory"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// openDir opens the log of a name in a directory. If the log is damaged, calls return ErrDamaged.
func openDir(ctx context.Context, cfg config) (*dir, error) {
	log, err := directory.Open(ctx, cfg.dir, cfg.name)
	if errors.Is(err, directory.ErrName) {
		err = storage.Because(core.ErrArgument, err)
	}
	if err != nil {
		return nil, err
	}
	return own(ctx, cfg, log, log.Damage)
}

// own takes over a log, unless it is damaged already.
func own(ctx context.Context, cfg config, log dirLog, err error) (*dir, error) {
	d := &dir{cfg: cfg, log: log}
	d.Here = d.Partition
	if err == nil {
		err = d.open(ctx)
	}
	switch {
	case errors.Is(err, ErrDamaged):
		err = storage.In(cfg.dir, err)
		d.fail(err)
		cfg.logger.Error("durable: a log is damaged", "name", cfg.name, "err", err,
			"salvage", "go run github.com/epicycle-go/epicycle/hierarchy/durable/salvage -dir "+cfg.dir)
	case err != nil:
		d.Close()
		return nil, storage.In(cfg.dir, err)
	}
	d.ready.Store(true)
	if err == nil {
		log.OnLost(func(err error) { d.lose(storage.In(cfg.dir, storage.Because(ErrUnavailable, err))) })
	}
	return d, nil
}

// reason is the cause with which Open itself cancels its context.
type reason struct{ error }

// open reads the log, and takes it over. It does not wait until a disk that is full has room.
func (d *dir) open(ctx context.Context) (err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	cfg := d.cfg.common
	cfg.Log, cfg.Partitions = d.log, 1
	cfg.Cause, cfg.Tenure, cfg.Progress = d.cause, d.owns, new(partition.Progress)
	cfg.Doubted = func(error) {
		if _, err := d.log.Refusal(); err != nil {
			end(reason{err})
		}
		time.AfterFunc(anchor.Every, func() { d.owns() }) // the directory may be gone
	}
	d.log.OnLost(func(err error) { end(reason{err}) })
	go d.logProgress(ctx, cfg.Progress)
	begun := time.Now()
	d.part, err = partition.Open(ctx, cfg)
	if why, ok := errors.AsType[reason](context.Cause(ctx)); ok && err != nil {
		err = why.error
	}
	if took := time.Since(begun); err == nil && took > time.Second {
		d.cfg.logger.Info("durable: the log is read", "dir", d.cfg.dir, "name", d.cfg.name, "took", took)
	}
	return err
}

// cause returns why the log does not answer, or nil.
func (d *dir) cause() error {
	_, err := d.log.Problem()
	return err
}

// logProgress logs each second, until ctx is done, how many frames of the log have been read.
func (d *dir) logProgress(ctx context.Context, p *partition.Progress) {
	for wait.Sleep(ctx, time.Second) {
		d.cfg.logger.Info("durable: reading the log", "dir", d.cfg.dir, "name", d.cfg.name,
			"read", p.Read.Load(), "of", p.Of.Load())
	}
}
