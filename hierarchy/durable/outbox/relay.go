package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Timers is what Relay passes rows to: a *durable.Keyed.
type Timers[K comparable, V any] interface {
	Batch(ctx context.Context, b *durable.Batch[K, V]) error
}

// errLost: another process has the lease.
var errLost = errors.New("outbox: another process relays")

const (
	firstPause = 50 * time.Millisecond // after a failure, doubled each time
	lastPause  = 5 * time.Second
)

// Relay passes rows to timers until ctx ends, and returns its error. Every process may call it: one at a time
// relays, and the others wait. When it stops in order, the next one begins within an eighth of Lease.
//
// While the timers or the database are not available, rows wait and nothing is lost. Rows of a partition that is full
// or damaged hold up those behind them, since these may be of the same key. A row that the timers refuse for good, as it
// is too large or can't be decoded, stays in the table with the reason in the column failed, is logged, and holds up
// nothing. To try it again, set failed to NULL.
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

// relay is what passes rows on, while its process has the lease.
type relay[K comparable, V any] struct {
	box    *Box[K, V]
	timers Timers[K, V]
	lease  *lease
	woken  wait.Signal // there may be rows
	pauses *wait.Backoff

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
	return r.box.renew(ctx, r.lease, func(*sql.Tx) error { return nil })
}

// pass passes rows on and deletes them. It returns an error if the lease is lost, or nothing is known.
func (r *relay[K, V]) pass(ctx context.Context, rows []row) error {
	b := r.box
	if time.Until(r.lease.until) < b.cfg.Lease/4 {
		if err := b.renew(ctx, r.lease, func(*sql.Tx) error { return nil }); err != nil {
			return err
		}
	}
	ending, cancel := outlasting(ctx, r.lease.until)
	defer cancel()
	done, refused, err := r.send(ending, rows)
	if len(done)+len(refused) > 0 {
		err = errors.Join(err, b.renew(ending, r.lease, func(tx *sql.Tx) error { return r.forget(ending, tx, done, refused) }))
	}
	switch {
	case errors.Is(err, errLost) || ctx.Err() != nil:
		return err
	case err != nil: // the rows are passed on again: this process keeps the lease meanwhile
		b.cfg.Logger.Warn("outbox: rows have to wait", "table", b.cfg.Table, "rows", len(rows)-len(done)-len(refused), "err", err)
		return r.pause(ctx)
	}
	r.pauses.Reset()
	return nil
}

// grace is how long rows that are being passed on may take after Relay's context has ended. If they are not deleted,
// they are passed on again.
const grace = time.Second

// outlasting returns a context that ends at a time, or when ctx has ended and grace has passed.
func outlasting(ctx context.Context, until time.Time) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(grace, cancel)
		context.AfterFunc(lasting, func() { t.Stop() })
	})
	return lasting, func() { stop(); cancel() }
}

// pause waits after a failure. It keeps the lease.
func (r *relay[K, V]) pause(ctx context.Context) error {
	for left := r.pauses.Next(); left > 0; left -= r.box.cfg.Lease / 4 {
		if err := r.box.renew(ctx, r.lease, func(*sql.Tx) error { return nil }); err != nil {
			return err
		}
		if err := pause(ctx, min(left, r.box.cfg.Lease/4)); err != nil {
			return err
		}
	}
	return nil
}

// refusal is why the timers never take a row.
type refusal struct {
	id  int64
	err error
}

// send passes rows on, together if that is possible. It returns the IDs of those that were acknowledged.
func (r *relay[K, V]) send(ctx context.Context, rows []row) (done []int64, refused []refusal, err error) {
	all := rows[:0:0]
	for i := range rows {
		if err := r.check(&rows[i]); err != nil {
			refused = append(refused, refusal{rows[i].id, err})
			continue
		}
		all = append(all, rows[i])
	}
	err = r.sendAll(ctx, all)
	if !forGood(err) {
		if err == nil {
			done = ids(all)
		}
		return done, refused, err
	}
	for i := range all { // one of them is the reason
		switch err := r.sendAll(ctx, all[i:i+1]); {
		case forGood(err):
			refused = append(refused, refusal{all[i].id, err})
		case err != nil:
			return done, refused, err
		default:
			done = append(done, all[i].id)
		}
	}
	return done, refused, nil
}

// forGood reports whether a Batch is refused however often it is repeated.
func forGood(err error) bool {
	return errors.Is(err, durable.ErrTooLarge) || errors.Is(err, durable.ErrArgument)
}

func (r *relay[K, V]) sendAll(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	r.batch.Reset()
	for i := range rows {
		if err := r.add(&rows[i]); err != nil {
			return err
		}
	}
	return r.timers.Batch(ctx, &r.batch)
}

// check returns an error if a row can't be decoded.
func (r *relay[K, V]) check(w *row) error {
	r.batch.Reset()
	return r.add(w)
}

// add adds the operation of a row to the batch.
func (r *relay[K, V]) add(w *row) error {
	cfg := &r.box.cfg
	k, err := cfg.Key.Decode(w.key)
	if err != nil {
		return fmt.Errorf("outbox: the key can't be decoded: %w", err)
	}
	var v V
	if w.op == kindSet || w.op == kindSetAt {
		if v, err = cfg.Value.Decode(w.value); err != nil {
			return fmt.Errorf("outbox: the value can't be decoded: %w", err)
		}
	}
	switch w.op {
	case kindSet:
		r.batch.Set(k, v, left(w.due))
	case kindSetAt:
		r.batch.SetAt(k, v, time.Unix(0, w.due))
	case kindMove:
		r.batch.Move(k, left(w.due))
	case kindRemove:
		r.batch.Remove(k)
	default:
		return fmt.Errorf("outbox: operation %d is unknown", w.op)
	}
	return nil
}

// left returns the time until due. It saturates.
func left(due int64) time.Duration {
	now := time.Now().UnixNano()
	if due < 0 && now > math.MaxInt64+due {
		return math.MinInt64
	}
	return time.Duration(due - now)
}
