package durable

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// dir implements owners for Config.Dir: there is one partition, which this process owns. So the number of the partition,
// which the methods get, is always 0.
type dir struct {
	cluster.Reads
	cfg    config
	log    dirLog
	part   *partition.Partition    // nil if the log can't be read
	wrong  atomic.Pointer[failure] // why the partition can't be used
	closed atomic.Bool             // Shutdown or Close has begun
	ready  atomic.Bool             // part is set
}

// dirLog is a *directory.Log.
type dirLog interface {
	storage.Log
	Refusal() (since time.Time, err error)
	Problem() (since time.Time, err error)
	OnLost(func(error))
	Gone() error
	Close()
}

// failure is the error because of which the partition can't be used, and the time since which it is known.
type failure struct {
	error
	since time.Time
}

// fail makes all calls return err. It reports false if they return another error already.
func (d *dir) fail(err error) bool { return d.wrong.CompareAndSwap(nil, &failure{err, time.Now()}) }

// problem returns the error because of which the partition can't be used, or nil.
func (d *dir) problem() error {
	if f := d.wrong.Load(); f != nil {
		return f.error
	}
	return nil
}

func (d *dir) Len() int { return 1 }

func (d *dir) Partition(int) (*partition.Partition, error) {
	d.owns()
	return d.part, d.problem()
}

// Stats returns only the counters of a partition whose log is damaged. It still returns these because counters must not
// decrease.
func (d *dir) Stats(at int) (st partition.Stats, owned bool, err error) {
	p, err := d.Partition(at)
	if p != nil {
		st = p.Stats()
	}
	if err != nil {
		var past partition.Stats
		past.AddPast(&st)
		return past, false, err
	}
	return st, true, nil
}

func (d *dir) Members() ([]cluster.Member, []int) { return nil, nil }

func (d *dir) Do(ctx context.Context, at int, c *core.Call) error {
	p, err := d.Partition(at)
	if err != nil {
		return err
	}
	if err = p.Do(ctx, c); errors.Is(err, ErrUnavailable) && !d.owns() {
		err = storage.In(d.cfg.dir, storage.Because(ErrUnavailable, d.log.Gone())) // it may have been committed before
	}
	return err
}

// owns reports whether the directory is still the one that was opened. If it is not, the partition ends: what it would
// write would be lost.
func (d *dir) owns() bool {
	err := d.log.Gone()
	if err != nil && d.ready.Load() {
		d.lose(storage.In(d.cfg.dir, storage.Because(ErrDamaged, err)))
	}
	return err == nil
}

// lose makes all calls return err, and ends the partition.
func (d *dir) lose(err error) {
	if d.fail(err) {
		d.cfg.logger.Error("durable: all timers are unavailable", "name", d.cfg.name, "err", err)
		go d.part.Abandon() // the caller may hold the partition's lock
	}
}

// HandOver does nothing: no other process can take the partition.
func (d *dir) HandOver(context.Context) {}

// Shutdown ends the partition, and closes the log.
func (d *dir) Shutdown(ctx context.Context) (err error) {
	d.closed.Store(true)
	if d.part != nil && d.problem() == nil {
		err = d.part.Shutdown(ctx)
	}
	d.log.Close()
	return err
}

// Close is Shutdown with a context that is done.
func (d *dir) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = d.Shutdown(ended)
}
