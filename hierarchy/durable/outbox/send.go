package outbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// send passes rows on, together if possible. The rows are in order of ID.
func (r *relay[K, V]) send(ctx context.Context, rows []row) *outcome {
	o := &outcome{waiting: make(map[string]bool)}
	again := r.try(ctx, r.ready(rows, o), o)
	isFull := func(f failure) bool { return errors.Is(f.err, durable.ErrFull) }
	r.fit(ctx, filter(again, isFull), o)
	r.isolate(ctx, filter(again, func(f failure) bool { return !isFull(f) }), o)
	return o
}

// ready returns the rows that can be passed on: those that can be decoded, and whose keys have no earlier row that
// waits and is not among them.
func (r *relay[K, V]) ready(rows []row, o *outcome) (all []failure) {
	there := make(map[int64]bool, len(rows))
	for i := range rows {
		w := &rows[i]
		if w.ahead.Valid && !there[w.ahead.Int64] {
			o.wait(w)
			continue
		}
		there[w.id] = true
		if err := r.check(w); err != nil {
			o.refused = append(o.refused, failure{*w, err})
			continue
		}
		all = append(all, failure{row: *w})
	}
	return all
}

// try passes rows on in one Batch. It returns, with their errors, the rows that may be accepted if there are fewer at
// once.
func (r *relay[K, V]) try(ctx context.Context, rows []failure, o *outcome) (again []failure) {
	r.batch.Reset()
	var sent []failure
	for _, f := range rows {
		if o.waiting[string(f.key)] {
			o.wait(&f.row)
			continue
		}
		_ = r.add(&f.row) // check has returned nil
		sent = append(sent, f)
	}
	if len(sent) == 0 {
		return nil
	}
	err := r.timers.Batch(ctx, &r.batch)
	for i, f := range sent {
		switch f.err = r.errorOf(i, err); {
		case f.err == nil:
			o.done = append(o.done, f.id)
		case forGood(f.err), errors.Is(f.err, durable.ErrFull):
			again = append(again, f)
		default:
			o.fail(f)
		}
	}
	return again
}

// errorOf returns the error of an operation of the batch. If Timers has returned an error of its own, without the call
// of a Keyed, the operation has that error.
func (r *relay[K, V]) errorOf(i int, err error) error {
	one := r.batch.Err(i)
	if one != nil && err != nil && !errors.Is(err, one) {
		return err
	}
	return one
}

// mostTries limits the batches for the rows of a page that full partitions have refused, so that they do not hold up
// others for long. It is far more than it takes to find the first row that has no room.
const mostTries = 64

// fit passes on as many of the rows as full partitions have room for. A partition has refused all of its rows together,
// since it has no room for all. A row without room does not stop those behind it: they may make room, or need none. The
// rows that are left after mostTries stay as they are: they are in the next page, without those that were tried alone.
func (r *relay[K, V]) fit(ctx context.Context, rows []failure, o *outcome) {
	roomless, others := splitRoomless(rows)
	rows = append(r.try(ctx, roomless, o), others...)
	n := (len(rows) + 1) / 2
	for tries := 0; n > 0 && tries < mostTries; tries++ {
		left := r.try(ctx, rows[:n], o)
		rows = rows[n:]
		switch {
		case len(left) == 0:
			n *= 2
		case n == 1:
			o.fail(left[0])
		default:
			rows = append(left, rows...)
			n /= 2
		}
		n = min(n, len(rows))
	}
}

// splitRoomless separates the rows that need no room, but may make room: those that set no timer, and have no row before
// them that sets one of their key.
func splitRoomless(rows []failure) (roomless, others []failure) {
	set := make(map[string]bool)
	for _, f := range rows {
		if f.op == kindSet || f.op == kindSetAt || set[string(f.key)] {
			set[string(f.key)] = true
			others = append(others, f)
		} else {
			roomless = append(roomless, f)
		}
	}
	return roomless, others
}

// isolate finds the rows that the timers refuse for good, and passes on the others: one row can be the reason why many
// are refused together.
func (r *relay[K, V]) isolate(ctx context.Context, rows []failure, o *outcome) {
	middle := (len(rows) + 1) / 2
	for _, half := range [][]failure{rows[:middle], rows[middle:]} {
		if len(half) == 0 {
			continue
		}
		var bad []failure
		for _, f := range r.try(ctx, half, o) {
			if forGood(f.err) {
				bad = append(bad, f)
			} else {
				o.fail(f)
			}
		}
		if len(half) == 1 {
			o.refused = append(o.refused, bad...)
		} else if len(bad) > 0 {
			r.isolate(ctx, bad, o)
		}
	}
}

func filter(rows []failure, is func(failure) bool) (some []failure) {
	for _, f := range rows {
		if is(f) {
			some = append(some, f)
		}
	}
	return some
}

// forGood reports whether an error means that a Batch will be refused however often it is repeated.
func forGood(err error) bool {
	return errors.Is(err, durable.ErrTooLarge) || errors.Is(err, durable.ErrArgument)
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
	case kindMoveAt:
		r.batch.MoveAt(k, time.Unix(0, w.due))
	case kindRemove:
		r.batch.Remove(k)
	default:
		return fmt.Errorf("outbox: operation %d is unknown", w.op)
	}
	return nil
}

// left returns the time until due. On overflow, it returns the smallest duration.
func left(due int64) time.Duration {
	now := time.Now().UnixNano()
	if due < 0 && now > math.MaxInt64+due {
		return math.MinInt64
	}
	return time.Duration(due - now)
}
