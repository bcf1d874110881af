package durable

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// request is a Call with memory for its key and value. Requests are pooled.
type request struct {
	core.Call
	data []byte // the memory for the key and the value
}

// operation is what a caller requests. kind determines which fields are used.
type operation[K comparable, V any] struct {
	kind frame.Kind
	when core.Condition
	was  bool // the operation returns a timer: see core.Op
	key  K
	val  V
	d    time.Duration
	t    time.Time
	end  *core.Ending
	s    *Schedule // the schedule of a SetSchedule, whose kind is frame.SetAt; otherwise nil

	debounced      bool // of SetDebounced, whose kind is frame.Set
	quiet, longest time.Duration
}

// entry returns the timer that the operation has set.
func (op *operation[K, V]) entry(id frame.ID, due int64) Entry[K, V] {
	e := Entry[K, V]{Key: op.key, Value: op.val, Due: timeOf(due), ID: ID{id}}
	if op.s != nil {
		e.Schedule = *op.s
	}
	return e
}

// outcome is what an operation returns.
type outcome struct {
	took bool
	text string   // a value or a timer; see core.Op
	id   frame.ID // of the timer that was set or moved
	due  int64    // when that timer is due
}

// do does one operation.
func (w *Keyed[K, V]) do(ctx context.Context, op operation[K, V]) (a outcome, err error) {
	r := w.pool.Get().(*request)
	r.data = r.data[:0]
	o, at, err := w.operation(ctx, &r.data, &op)
	if err != nil {
		return a, err
	}
	r.Reset()
	r.Ops = append(r.Ops, o)
	if err := w.owners.Do(ctx, at, &r.Call); err != nil {
		return a, err // r is not pooled, since the partition may still read it
	}
	a = outcome{took: r.Took[0], id: r.First, due: r.Ops[0].Due}
	if len(r.Values) > 0 {
		a.text = r.Values[0]
	}
	w.pool.Put(r)
	return a, nil
}

// operation encodes an operation, and returns it with its partition. data, which must be empty, receives the key and
// the value.
func (w *Keyed[K, V]) operation(ctx context.Context, data *[]byte, op *operation[K, V]) (a core.Op, at int, err error) {
	if *data, err = w.appendKey(*data, op.key); err != nil {
		return a, 0, err
	}
	n := len(*data)
	if op.kind <= frame.SetAt {
		if *data, err = appendTo(*data, w.cfg.Value, op.val, "value", maxValue); err != nil {
			return a, 0, err
		}
		a.Trace = w.cfg.inject(ctx)
	}
	a.Kind, a.If, a.Whole, a.In, a.Ending = op.kind, op.when, op.was, op.d, op.end
	a.Key, a.Value = (*data)[:n:n], (*data)[n:]
	at = of(a.Key, w.owners.Len())
	switch {
	case op.debounced:
		a.Quiet, a.Longest, err = op.quiet, op.longest, checkDebounce(op.quiet, op.longest)
	case op.s != nil:
		a.Schedule, err = w.scheduleText(*op.s)
	case op.kind == frame.SetAt, op.kind == frame.MoveAt:
		a.Due, _ = instantOf(op.t)
	}
	return a, at, err
}

func (w *Keyed[K, V]) appendKey(b []byte, k K) ([]byte, error) {
	return appendTo(b, w.cfg.Key, k, "key", maxKey)
}

// appendTo appends the encoding of v. The argument most limits the number of bytes of the encoding.
func appendTo[T any](b []byte, c Codec[T], v T, what string, most int) ([]byte, error) {
	n := len(b)
	b, err := c.Append(b, v)
	if err == nil && len(b)-n > most {
		err = fmt.Errorf("%w: a %s of %d bytes, of at most %d", ErrTooLarge, what, len(b)-n, most)
	}
	return b, err
}

// of returns the partition of a key, as FORMAT.md describes it. FNV-1a alone gives keys that differ only in
// their last bytes similar high bits, so its bits are mixed with MurmurHash3's finalizer.
func of(key []byte, partitions int) int {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return int(h >> 32 * uint64(partitions) >> 32)
}
