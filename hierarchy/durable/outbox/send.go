package outbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// refusal is a row that the timers refuse for good, with the error.
type refusal struct {
	id  int64
	err error
}

// send passes rows on, together if possible. It returns the IDs of the rows that were acknowledged, and the rows that
// were refused.
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
	for i := range all { // one of the rows is the reason why all were refused
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

// forGood reports whether an error means that a Batch will be refused however often it is repeated.
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
