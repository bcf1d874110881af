package durable

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// dir implements owners for Config.Dir: this process owns all partitions.
type dir struct {
	cfg     dirConfig
	server  *embedded.Share
	name    name
	parts   []part
	unwatch func() // ends the calls of damaged
	closing sync.Once
	closed  atomic.Bool // Shutdown or Close has begun
}

type dirConfig struct {
	dir, name  string
	partitions int
	common     partition.Config
	logger     *slog.Logger
}

// part is a partition, or why there is none.
type part struct {
	*partition.Partition
	why atomic.Pointer[failure]
}

// failure is why a partition can't be used, and since when that is known.
type failure struct {
	error
	since time.Time
}

// problem returns why the partition can't be used, or nil.
func (p *part) problem() error {
	if why := p.why.Load(); why != nil {
		return why.error
	}
	return nil
}

// fail sets problem.
func (p *part) fail(err error) {
	if err != nil {
		p.why.Store(&failure{err, time.Now()})
	}
}

func (d *dir) Len() int { return len(d.parts) }

func (d *dir) Partition(at int) (*partition.Partition, error) {
	return d.parts[at].Partition, d.parts[at].problem()
}

// Stats has only the counters of a partition whose log is damaged: they never decrease.
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

func (d *dir) Do(ctx context.Context, at int, c *partition.Call) error {
	p, err := d.Partition(at)
	if err != nil {
		return err
	}
	return p.Do(ctx, c)
}

func (d *dir) Get(_ context.Context, at int, key []byte) (value string, remaining time.Duration, ok bool, err error) {
	p, err := d.Partition(at)
	if err != nil {
		return "", 0, false, err
	}
	return p.Get(key)
}

func (d *dir) Count(_ context.Context, at int) (int, error) {
	p, err := d.Partition(at)
	if err != nil {
		return 0, err
	}
	return p.Len()
}

func (d *dir) All(_ context.Context, at int, dead bool, f func(state.Timer) bool) error {
	p, err := d.Partition(at)
	if err != nil {
		return err
	}
	return p.All(dead, f)
}

func (d *dir) Export(_ context.Context, at int, begin func() error, f func(state.Timer) error) error {
	p, err := d.Partition(at)
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	return p.Export(f)
}

func (d *dir) Epoch(_ context.Context, at int) (uint64, error) {
	p, err := d.Partition(at)
	if err != nil {
		return 0, err
	}
	return p.Moment().Epoch, nil
}

// Shutdown ends the partitions, and the server if nobody else uses it.
func (d *dir) Shutdown(ctx context.Context) error {
	d.closed.Store(true)
	errs := make([]error, len(d.parts))
	var wg sync.WaitGroup
	for at := range d.parts {
		if p := &d.parts[at]; p.Partition != nil && p.problem() == nil {
			wg.Go(func() { errs[at] = p.Shutdown(ctx) })
		}
	}
	wg.Wait()
	d.closing.Do(func() {
		d.unwatch()
		d.name.release()
		d.server.Close()
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close is Shutdown with a context that is done.
func (d *dir) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = d.Shutdown(ended)
}

// partitionsOf returns the partitions [first, last) to which a stream belongs: all for the marks, none for
// a stream of another set.
func (d *dir) partitionsOf(name string) (first, last int) {
	if name == jetstream.MarksStream(d.cfg.name) {
		return 0, jetstream.MaxPartitions
	}
	for at := range jetstream.MaxPartitions {
		if name == jetstream.LogStream(d.cfg.name, at) {
			return at, at + 1
		}
	}
	return 0, 0
}

// damaged ends the partitions of a stream in which the server has found damage. The others go on.
func (d *dir) damaged(name string, err error) {
	for at, last := d.partitionsOf(name); at < last && at < len(d.parts); at++ {
		p := &d.parts[at]
		if p.problem() != nil {
			continue
		}
		d.setDamaged(p, corrupt(err))
		go p.Abandon()
	}
}

// why adds to err, which is about a stream, where its files were moved to, if they were.
func (d *dir) why(err error, name string) error {
	if aside := d.server.Aside(name); aside != nil {
		err = fmt.Errorf("%w: %w", err, aside)
	}
	return err
}

// setDamaged makes calls for a partition return err, and logs it.
func (d *dir) setDamaged(p *part, err error) {
	err = storage.In(d.cfg.dir, err)
	p.fail(err)
	d.cfg.logger.Error("durable: a log is damaged", "name", d.cfg.name, "err", err,
		"salvage", "go run github.com/epicycle-go/epicycle/hierarchy/durable/salvage -dir "+d.cfg.dir)
}

func (d *dir) Lookup(_ context.Context, at int, key []byte) (t state.Timer, ok bool, err error) {
	p, err := d.Partition(at)
	if err != nil {
		return t, false, err
	}
	return p.Lookup(key)
}

func (d *dir) List(_ context.Context, at int, q *partition.Query, found *partition.Found) error {
	p, err := d.Partition(at)
	if err != nil {
		return err
	}
	return p.List(q, found)
}
