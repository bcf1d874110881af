package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Timers are the timers to which Relay passes rows: a *durable.Keyed, or what calls one. Batch leaves the results in b.
type Timers[K comparable, V any] interface {
	Batch(ctx context.Context, b *durable.Batch[K, V]) error
}

// errLost means that another process has the lease.
var errLost = errors.New("outbox: another process relays")

const (
	firstPause = 50 * time.Millisecond // the first pause after a failure; doubled each time
	lastPause  = 5 * time.Second
)

// Relay passes rows to timers until ctx ends, and returns its error. Every process may call it: one at a time relays,
// and the others wait. When the relay is stopped by its context, the next one begins within an eighth of Lease.
//
// While the timers or the database are not available, rows wait and nothing is lost. A row that the timers do not accept
// for now, because its partition is full, damaged or does not answer, waits, and so do later rows of its key. It holds up
// no others, except that the relay waits for an answer for a quarter to half of Lease. It stays in the table with the error in the column failed, the number of attempts in attempts, and in next when it is
// tried again, in nanoseconds since the Unix epoch: after 100ms, then after twice as long each time, up to a minute.
//
// The timers refuse a row for good if it is too large or can't be decoded. Such a row is logged, stays in the table with
// the error in failed and NULL in next, and holds up nothing. To try a row again now, set next to 1.
func (b *Box[K, V]) Relay(ctx context.Context, timers Timers[K, V]) error {
	pauses := wait.Backoff{First: firstPause, Last: lastPause}
	for ctx.Err() == nil {
		l, err := b.acquire(ctx)
		if err == nil {
			r := &relay[K, V]{box: b, timers: timers, lease: l, woken: wait.NewSignal(), pauses: &pauses}
			err = r.serve(ctx)
			b.release(ctx, l)
		}
		if ctx.Err() == nil {
			b.cfg.Logger.Warn("outbox: relaying was interrupted", "table", b.cfg.Table, "err", err)
			pauses.Wait(ctx)
		}
	}
	return ctx.Err()
}

// relay passes rows on while its process has the lease.
type relay[K comparable, V any] struct {
	box    *Box[K, V]
	timers Timers[K, V]
	lease  *lease
	woken  wait.Signal // set when there may be rows
	pauses *wait.Backoff
	warned time.Time // when a warning about rows that wait was last logged

	batch durable.Batch[K, V]
}

// serve passes rows on until the first error.
func (r *relay[K, V]) serve(ctx context.Context) error {
	listening, stop := context.WithCancel(ctx)
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		r.listen(listening)
	}()
	defer func() { stop(); <-listened }()
	for {
		rows, err := r.page(ctx)
		if err == nil && len(rows) == 0 {
			err = r.idle(ctx)
		} else if err == nil {
			err = r.pass(ctx, rows)
		}
		if err != nil {
			return err
		}
	}
}

// listen wakes the relay when there may be rows.
func (r *relay[K, V]) listen(ctx context.Context) {
	d := &r.box.cfg.Dialect
	pauses := wait.Backoff{First: firstPause, Last: lastPause}
	for d.Listen != nil && ctx.Err() == nil {
		err := d.Listen(ctx, r.box.cfg.DB, r.box.cfg.Table, func() { r.woken.Set(); pauses.Reset() })
		if ctx.Err() == nil {
			r.box.cfg.Logger.Warn("outbox: listening was interrupted", "table", r.box.cfg.Table, "err", err)
			pauses.Wait(ctx)
		}
	}
}

// idle waits until there may be rows, and renews the lease.
func (r *relay[K, V]) idle(ctx context.Context) error {
	lease := r.box.cfg.Lease
	most := lease / 4
	if r.box.cfg.Dialect.Listen == nil {
		most = min(most, r.box.cfg.Dialect.Poll)
	}
	most, err := r.nextTime(ctx, most)
	if err != nil {
		return err
	}
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.woken:
	case <-t.C:
	}
	if time.Until(r.lease.until) > lease/2 {
		return nil
	}
	return r.box.renew(ctx, r.lease, func(Execer) error { return nil })
}

// pass passes rows on and deletes them. It returns an error if the lease is lost, or may be lost.
func (r *relay[K, V]) pass(ctx context.Context, rows []row) error {
	b := r.box
	if time.Until(r.lease.until) < b.cfg.Lease/2 {
		if err := b.renew(ctx, r.lease, func(Execer) error { return nil }); err != nil {
			return err
		}
	}
	// A partition that does not answer must leave time for recording what has become of all rows.
	sending, cancel := outlasting(ctx, r.lease.until.Add(-b.cfg.Lease/4))
	o := r.send(sending, rows)
	cancel()
	if ctx.Err() != nil { // what has failed has failed because of that
		o.failed, o.behind = nil, nil
		if len(o.done)+len(o.refused) == 0 {
			return ctx.Err()
		}
	}
	settling, cancel := outlasting(ctx, r.lease.until)
	defer cancel()
	if err := b.renew(settling, r.lease, func(tx Execer) error { return r.settle(settling, tx, o) }); err != nil {
		if errors.Is(err, errLost) || ctx.Err() != nil {
			return err
		}
		b.cfg.Logger.Warn("outbox: rows have to be passed on again", "table", b.cfg.Table, "rows", len(o.done), "err", err)
		return r.pause(ctx) // this process keeps the lease meanwhile
	}
	r.pauses.Reset()
	r.warn(o)
	if o.outage() {
		return pause(ctx, min(outagePause, b.cfg.Lease/8))
	}
	return ctx.Err()
}

// outagePause limits how fast the relay goes through the table while the timers do not answer. It is short, as the next
// rows may be of a partition that does.
const outagePause = 200 * time.Millisecond

// warnEvery is the time between two warnings about rows that wait.
const warnEvery = 10 * time.Second

// warn logs that rows were refused, and that rows have to wait, unless that was logged shortly before. The database has
// recorded this already, as a Logger can be slow, or panic.
func (r *relay[K, V]) warn(o *outcome) {
	for _, f := range o.refused {
		r.box.cfg.Logger.Error("outbox: a row is refused", "table", r.box.cfg.Table, "id", f.id, "err", f.err)
	}
	if len(o.failed) > 0 && time.Since(r.warned) > warnEvery {
		r.warned = time.Now()
		r.box.cfg.Logger.Warn("outbox: rows have to wait", "table", r.box.cfg.Table, "rows", len(o.failed)+len(o.behind),
			"err", o.failed[0].err)
	}
}

// grace limits the time for passing on rows after the end of Relay's context, and then the time for deleting them. Rows
// that are not deleted by then are passed on again.
const grace = time.Second / 2

// outlasting returns a context that ends at until, or grace after ctx.
func outlasting(ctx context.Context, until time.Time) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(grace, cancel)
		context.AfterFunc(lasting, func() { t.Stop() })
	})
	return lasting, func() { stop(); cancel() }
}

// pause waits after a failure, and keeps the lease meanwhile.
func (r *relay[K, V]) pause(ctx context.Context) error {
	for left := r.pauses.Next(); left > 0; left -= r.box.cfg.Lease / 4 {
		if err := r.box.renew(ctx, r.lease, func(Execer) error { return nil }); err != nil {
			return err
		}
		if err := pause(ctx, min(left, r.box.cfg.Lease/4)); err != nil {
			return err
		}
	}
	return nil
}
