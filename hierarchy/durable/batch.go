package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Batch is operations for one call of Keyed.Batch. The zero Batch is empty and ready. It is not
// safe for concurrent use.
type Batch[K comparable, V any] struct {
	ops     []operation[K, V]
	results []result
	decode  func([]byte) (V, error) // of the Keyed
}

// result is what has become of an operation.
type result struct {
	value string // that a Remove took out, if known
	known bool
	took  bool
}

type operation[K comparable, V any] struct {
	kind frame.Kind
	key  K
	val  V
	d    time.Duration
	t    time.Time
}

// Set adds an operation like Keyed.Set. d counts from the call of Keyed.Batch.
func (b *Batch[K, V]) Set(k K, v V, d time.Duration) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Set, key: k, val: v, d: d})
}

// SetAt adds an operation like Keyed.SetAt.
func (b *Batch[K, V]) SetAt(k K, v V, t time.Time) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.SetAt, key: k, val: v, t: t})
}

// Move adds an operation like Keyed.Move. d counts from the call of Keyed.Batch.
func (b *Batch[K, V]) Move(k K, d time.Duration) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Move, key: k, d: d})
}

// Remove adds an operation like Keyed.Remove. Removed returns what it removed.
func (b *Batch[K, V]) Remove(k K) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Remove, key: k})
}

// Revive adds an operation like Keyed.Revive.
func (b *Batch[K, V]) Revive(k K) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Revive, key: k})
}

// Len is the number of operations.
func (b *Batch[K, V]) Len() int { return len(b.ops) }

// Took reports, after Keyed.Batch, what operation i, from 0, would have reported by itself: whether
// it took hold.
func (b *Batch[K, V]) Took(i int) bool { return i < len(b.results) && b.results[i].took }

// Removed returns, after Keyed.Batch, what operation i, a Remove, would have returned by itself. It is false if
// the operation removed nothing, or is another one. If the timer was removed, and its value can't be decoded or
// is not known, Removed is true, with an error. A value is not known, and the error is ErrTooLarge, if the
// partition belongs to another process whose answer had no room for it: it has some 256 KiB for the values of
// one partition. An owner of an earlier version returns no values.
func (b *Batch[K, V]) Removed(i int) (v V, ok bool, err error) {
	if !b.Took(i) || b.ops[i].kind != frame.Remove {
		return v, false, nil
	}
	r := &b.results[i]
	if !r.known {
		return v, true, errNoValue
	}
	v, err = b.decode([]byte(r.value))
	return v, true, err
}

var errNoValue = fmt.Errorf("%w: the answer has no room for the value that was removed", ErrTooLarge)

// Reset empties b.
func (b *Batch[K, V]) Reset() {
	clear(b.ops)
	clear(b.results)
	b.ops, b.results = b.ops[:0], b.results[:0]
}

// batchPart is the part of a Batch for one partition.
type batchPart struct {
	call   partition.Call
	places []int // of its operations in the Batch
}

// Batch does all operations of b, in their order for each key. The part for each partition takes
// hold as a whole or not at all, and fails by itself: the errors are joined, and b.Took says what
// took hold. If an operation can't be encoded, nothing takes hold.
func (w *Keyed[K, V]) Batch(ctx context.Context, b *Batch[K, V]) error {
	b.results, b.decode = slices.Grow(b.results[:0], len(b.ops))[:len(b.ops)], w.cfg.Value.Decode
	clear(b.results)
	parts := make([]*batchPart, w.owners.Len())
	for i := range b.ops {
		if err := w.addTo(parts, i, &b.ops[i]); err != nil {
			return err
		}
	}
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		if part != nil {
			wg.Go(func() { errs[i] = w.owners.Do(ctx, i, &part.call) })
		}
	}
	wg.Wait()
	for i, part := range parts {
		if part != nil && errs[i] == nil {
			b.take(part)
		}
	}
	return errors.Join(errs...)
}

// take takes the results of a part.
func (b *Batch[K, V]) take(part *batchPart) {
	values := part.call.Values
	for j, place := range part.places {
		r := &b.results[place]
		r.took = part.call.Took[j]
		if r.took && b.ops[place].kind == frame.Remove && len(values) > 0 {
			r.value, r.known = values[0], true
			values = values[1:]
		}
	}
}

// addTo encodes operation i and adds it to the part of its partition.
func (w *Keyed[K, V]) addTo(parts []*batchPart, i int, op *operation[K, V]) error {
	var data []byte
	v := &op.val
	if op.kind > frame.SetAt {
		v = nil
	}
	ask, at, err := w.ask(&data, op.kind, op.key, v, op.d, op.t)
	if err != nil {
		return err
	}
	part := parts[at]
	if part == nil {
		part = new(batchPart)
		parts[at] = part
	}
	part.call.Asks = append(part.call.Asks, ask)
	part.places = append(part.places, i)
	return nil
}
