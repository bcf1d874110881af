package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// dir implements owners for Config.Dir: this process owns all partitions.
type dir struct {
	cluster.Reads
	cfg     config
	server  *embedded.Share
	name    name
	parts   []part
	unwatch func() // ends the calls of damaged
	closing sync.Once
	closed  atomic.Bool // Shutdown or Close has begun
	ready   atomic.Bool // parts is complete
	losing  sync.Once
	gone    atomic.Pointer[failure] // set once the directory is gone
}

// part is a partition, or the reason why there is none.
type part struct {
	*partition.Partition
	why atomic.Pointer[failure]
}

// failure is the error because of which a partition can't be used, and the time since which it is known.
type failure struct {
	error
	since time.Time
}

// problem returns the error because of which the partition can't be used, or nil.
func (p *part) problem() error {
	if why := p.why.Load(); why != nil {
		return why.error
	}
	return nil
}

// fail sets the error that problem returns.
func (p *part) fail(err error) { p.why.Store(&failure{err, time.Now()}) }

func (d *dir) Len() int { return len(d.parts) }

func (d *dir) Partition(at int) (*partition.Partition, error) {
	d.owns()
	return d.parts[at].Partition, d.parts[at].problem()
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
		err = storage.In(d.cfg.dir, storage.Because(ErrUnavailable, d.server.Gone())) // it may have been committed before
	}
	return err
}

// owns reports whether the directory is still the one that was opened. If it is not, all partitions end: what they would
// write would be lost.
func (d *dir) owns() bool {
	err := d.server.Gone()
	if err != nil && d.ready.Load() {
		d.losing.Do(func() { d.lose(err) })
	}
	return err == nil
}

// lose makes all calls return err, and ends the partitions.
func (d *dir) lose(err error) {
	err = storage.In(d.cfg.dir, storage.Because(ErrDamaged, err))
	d.gone.Store(&failure{err, time.Now()})
	d.cfg.logger.Error("durable: all timers are unavailable", "name", d.cfg.name, "err", err)
	for at := range d.parts {
		if p := &d.parts[at]; p.problem() == nil {
			p.fail(err)
			go p.Abandon() // the caller may hold the partition's lock
		}
	}
}

// HandOver does nothing: no other process can take a partition.
func (d *dir) HandOver(context.Context) {}

// Shutdown ends the partitions, and the server if nobody else uses it.
func (d *dir) Shutdown(ctx context.Context) error {
	d.closed.Store(true)
	errs := wait.All(len(d.parts), len(d.parts), func(at int) error {
		if p := &d.parts[at]; p.Partition != nil && p.problem() == nil {
			return p.Shutdown(ctx)
		}
		return nil
	})
	d.closing.Do(func() {
		d.unwatch()
		d.name.release()
		d.server.Close()
	})
	return cmp.Or(errs...)
}

// Close is Shutdown with a context that is done.
func (d *dir) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = d.Shutdown(ended)
}

// damaged ends the partitions that use a stream in which the server has found damage. The other partitions go on.
func (d *dir) damaged(stream string, err error) {
	for at := range d.parts {
		if p := &d.parts[at]; d.uses(at, stream) && p.problem() == nil {
			d.setDamaged(p, corrupt(err))
			go p.Abandon()
		}
	}
}

// uses reports whether a stream has the log of a partition, or all marks.
func (d *dir) uses(at int, stream string) bool {
	return stream == jetstream.MarksStream(d.cfg.name) || stream == jetstream.LogStream(d.cfg.name, at)
}

// why returns err, which is about the stream with that name. If the files of the stream were moved aside, it adds to
// err where they are.
func (d *dir) why(err error, name string) error {
	if aside := d.server.Aside(name); aside != nil {
		err = fmt.Errorf("%w: %w", err, aside)
	}
	return err
}

// setDamaged makes calls for a partition return err, and logs err.
func (d *dir) setDamaged(p *part, err error) {
	err = storage.In(d.cfg.dir, err)
	p.fail(err)
	d.cfg.logger.Error("durable: a log is damaged", "name", d.cfg.name, "err", err,
		"salvage", "go run github.com/epicycle-go/epicycle/hierarchy/durable/salvage -dir "+d.cfg.dir)
}
