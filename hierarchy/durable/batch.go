package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Batch collects operations for one call of Keyed.Batch. The zero Batch is empty and ready for use. It is not
// safe for concurrent use.
type Batch[K comparable, V any] struct {
	ops     []operation[K, V]
	results []result
	decode  func([]byte) (V, error) // Config.Value.Decode of the Keyed
}

// result is the result of an operation.
type result struct {
	at    int // the operation's partition
	took  bool
	value string // the value of the timer that a Remove removed
	known bool   // whether value is known
	id    frame.ID
	due   int64 // of the timer that was set or moved
	err   error // the error of the operation's partition
}

// Set adds an operation like Keyed.Set. d counts from the call of Keyed.Batch.
func (b *Batch[K, V]) Set(k K, v V, d time.Duration) {
	b.setIf(core.Always, k, v, d)
}

// SetIfAbsent adds an operation like Keyed.SetIfAbsent. Took reports whether it set the timer. d counts from the call
// of Keyed.Batch.
func (b *Batch[K, V]) SetIfAbsent(k K, v V, d time.Duration) { b.setIf(core.IfAbsent, k, v, d) }

// SetSooner adds an operation like Keyed.SetSooner. Took reports whether it set the timer. d counts from the call of
// Keyed.Batch.
func (b *Batch[K, V]) SetSooner(k K, v V, d time.Duration) { b.setIf(core.IfSooner, k, v, d) }

// SetLater adds an operation like Keyed.SetLater. Took reports whether it set the timer. d counts from the call of
// Keyed.Batch.
func (b *Batch[K, V]) SetLater(k K, v V, d time.Duration) { b.setIf(core.IfLater, k, v, d) }

func (b *Batch[K, V]) setIf(c core.Condition, k K, v V, d time.Duration) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Set, when: c, key: k, val: v, d: d})
}

// SetAt adds an operation like Keyed.SetAt.
func (b *Batch[K, V]) SetAt(k K, v V, t time.Time) { b.setAtIf(core.Always, k, v, t) }

// SetAtIfAbsent adds an operation like Keyed.SetAtIfAbsent. Took reports whether it set the timer.
func (b *Batch[K, V]) SetAtIfAbsent(k K, v V, t time.Time) { b.setAtIf(core.IfAbsent, k, v, t) }

// SetAtSooner adds an operation like Keyed.SetAtSooner. Took reports whether it set the timer.
func (b *Batch[K, V]) SetAtSooner(k K, v V, t time.Time) { b.setAtIf(core.IfSooner, k, v, t) }

// SetAtLater adds an operation like Keyed.SetAtLater. Took reports whether it set the timer.
func (b *Batch[K, V]) SetAtLater(k K, v V, t time.Time) { b.setAtIf(core.IfLater, k, v, t) }

func (b *Batch[K, V]) setAtIf(c core.Condition, k K, v V, t time.Time) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.SetAt, when: c, key: k, val: v, t: t})
}

// SetSchedule adds an operation like Keyed.SetSchedule.
func (b *Batch[K, V]) SetSchedule(k K, v V, s Schedule) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.SetAt, key: k, val: v, s: &s})
}

// Move adds an operation like Keyed.Move. d counts from the call of Keyed.Batch.
func (b *Batch[K, V]) Move(k K, d time.Duration) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Move, key: k, d: d})
}

// MoveAt adds an operation like Keyed.MoveAt.
func (b *Batch[K, V]) MoveAt(k K, t time.Time) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.MoveAt, key: k, t: t})
}

// Remove adds an operation like Keyed.Remove. Removed returns what it removed.
func (b *Batch[K, V]) Remove(k K) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Remove, key: k})
}

// Revive adds an operation like Keyed.Revive.
func (b *Batch[K, V]) Revive(k K) {
	b.ops = append(b.ops, operation[K, V]{kind: frame.Revive, key: k})
}

// Pause adds an operation like Keyed.Pause.
func (b *Batch[K, V]) Pause(k K) { b.ops = append(b.ops, operation[K, V]{kind: frame.Pause, key: k}) }

// Resume adds an operation like Keyed.Resume.
func (b *Batch[K, V]) Resume(k K) { b.ops = append(b.ops, operation[K, V]{kind: frame.Resume, key: k}) }

// Len returns the number of operations.
func (b *Batch[K, V]) Len() int { return len(b.ops) }

// Took reports, after Keyed.Batch, whether operation i, counted from 0, is known to be committed. It is not if Err(i) is
// not nil, if the operation found no timer that it could move, remove, revive, pause or resume, or if its condition did not hold.
func (b *Batch[K, V]) Took(i int) bool { return i < len(b.results) && b.results[i].took }

// Entry returns, after Keyed.Batch, the timer that operation i has set or moved, with its ID and the time when it is
// due. ok is false if the operation set or moved none. Of a timer that was moved, the Entry has no Value and no
// Schedule, and none tells whether the timer is Paused.
func (b *Batch[K, V]) Entry(i int) (e Entry[K, V], ok bool) {
	if !b.Took(i) || !b.ops[i].kind.Renews() {
		return e, false
	}
	return b.ops[i].entry(b.results[i].id, b.results[i].due), true
}

// Err returns, after Keyed.Batch, the error of operation i, counted from 0: that of its partition, or of an operation
// that can't be encoded. After ErrUnavailable or the error of the context the operation may be committed: retry it. After
// other errors it is not. If Err(i) is nil, then Took(i) tells what the operation has done.
func (b *Batch[K, V]) Err(i int) error {
	if i >= len(b.results) {
		return errNotDone
	}
	return b.results[i].err
}

var errNotDone = errors.New("durable: Batch was not called")

// Removed returns, after Keyed.Batch, what Keyed.Remove would have returned for operation i. ok is false if the
// operation removed nothing, or is no Remove. If the timer was removed but its value can't be decoded or is not known,
// ok is true and err is not nil. A value is not known, and err is ErrTooLarge, if another process owns the partition
// and its response had no room for the value: a response has room for some 256 KiB of values.
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

// Batch commits all operations of b, in order for each key. The operations for one partition are committed together or
// not at all; a directory is one partition. If some partitions fail, their errors are joined; b.Err returns the error of
// each operation, and b.Took reports which ones were committed. If an operation can't be encoded, none is committed.
//
// A partition takes at most 2,000 operations of a Batch, and as many bytes as a message of the servers may have: 8 MiB
// with Dir, max_payload with Conn, which is 1 MiB by default. An operation counts as its key, its value and 64 bytes.
// If b has more operations for a partition, none of that partition's operations is committed, and the error is
// ErrTooLarge, with the number of the partition. Batch does not split them, since the parts would not be committed
// together.
func (w *Keyed[K, V]) Batch(ctx context.Context, b *Batch[K, V]) error {
	b.results, b.decode = slices.Grow(b.results[:0], len(b.ops))[:len(b.ops)], w.cfg.Value.Decode
	clear(b.results)
	calls := make([]*core.Call, w.owners.Len())
	for i := range b.ops {
		var data []byte
		op, at, err := w.operation(ctx, &data, &b.ops[i])
		if err != nil {
			for j := range b.results {
				b.results[j].err = err
			}
			return err
		}
		b.results[i].at = at
		addOp(calls, at, op)
	}
	errs := w.doAll(ctx, calls)
	for at, err := range errs {
		if errors.Is(err, ErrTooLarge) {
			errs[at] = storage.In(fmt.Sprintf("partition %d of a Batch", at), err)
		}
	}
	b.setResults(calls, errs)
	return errors.Join(errs...)
}

// setResults sets the results of the operations. A call holds, in order, the values of the timers that its Removes have
// removed. The last values may be missing.
func (b *Batch[K, V]) setResults(calls []*core.Call, errs []error) {
	for i := range b.ops {
		r := &b.results[i]
		if r.err = errs[r.at]; r.err != nil {
			continue
		}
		c := calls[r.at]
		r.took, c.Took = c.Took[0], c.Took[1:]
		if r.due, c.Ops = c.Ops[0].Due, c.Ops[1:]; r.took {
			r.id = c.First
			c.First.Number++
		}
		if r.took && b.ops[i].kind == frame.Remove && len(c.Values) > 0 {
			r.value, r.known, c.Values = c.Values[0], true, c.Values[1:]
		}
	}
}

// addOp adds an operation to the call for its partition, and returns that call.
func addOp(calls []*core.Call, at int, op core.Op) *core.Call {
	if calls[at] == nil {
		calls[at] = new(core.Call)
	}
	calls[at].Ops = append(calls[at].Ops, op)
	return calls[at]
}

// doAll does the calls concurrently. There is at most one for each partition.
func (w *Keyed[K, V]) doAll(ctx context.Context, calls []*core.Call) []error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for at, c := range calls {
		if c != nil {
			wg.Go(func() { errs[at] = w.owners.Do(ctx, at, c) })
		}
	}
	wg.Wait()
	return errs
}
