//go:build linux

package main

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// operation is an operation to call.
type operation struct {
	op, key, value string
	in             time.Duration // of Set and Move; of SetAt and MoveAt counted from now
	limit          time.Duration // of the context
}

// call does an operation, and records it. It returns whether it was committed, and its result.
func (w *worker) call(caller int, a operation) (ok bool, result string) {
	ctx, cancel := context.WithTimeout(context.Background(), a.limit)
	defer cancel()
	at := w.clock.Now().Add(a.in)
	r := w.noteCall(caller, a, at)
	t := w.timers.Load()
	var err error
	value := ""
	switch a.op {
	case judge.OpSet:
		_, err = t.Set(ctx, a.key, a.value, a.in)
		ok = err == nil
	case judge.OpSetAt:
		_, err = t.SetAt(ctx, a.key, a.value, at)
		ok = err == nil
	case judge.OpMove:
		_, ok, err = t.Move(ctx, a.key, a.in)
	case judge.OpMoveAt:
		_, ok, err = t.MoveAt(ctx, a.key, at)
	case judge.OpRemove:
		value, ok, err = t.Remove(ctx, a.key)
	case judge.OpGet:
		value, _, ok, err = t.Get(ctx, a.key)
	}
	return ok, w.answered(r, value, ok, err)
}

// noteCall records that an operation begins. Due is the time of SetAt or MoveAt.
func (w *worker) noteCall(caller int, a operation, at time.Time) judge.Record {
	r := judge.Record{Kind: judge.IsCall, Caller: caller, Serial: w.serial.Add(1), Op: a.op, Key: a.key, Value: a.value,
		In: int64(a.in), Limit: int64(a.limit)}
	if a.op == judge.OpSetAt || a.op == judge.OpMoveAt {
		r.Due = at.UnixNano()
	}
	w.rec.write(r)
	return r
}

// answered records how an operation has ended.
func (w *worker) answered(called judge.Record, value string, ok bool, err error) (result string) {
	r := judge.Record{Kind: judge.IsAnswer, Serial: called.Serial, Value: value, OK: ok, Result: resultOf(err)}
	if err != nil {
		r.Error = err.Error()
	}
	w.rec.write(r)
	return r.Result
}

// resultOf classifies the error of an operation.
func resultOf(err error) string {
	switch {
	case err == nil:
		return judge.Took
	case errors.Is(err, durable.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return judge.Unknown
	case errors.Is(err, durable.ErrClosed):
		return judge.Refused
	}
	return judge.Failed
}

// batch calls several operations on different keys at once. None is Remove, because a batch does not return the
// value that it removes.
func (w *worker) batch(caller int, all []operation, limit time.Duration) (result string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var b durable.Batch[string, string]
	var called []judge.Record
	for _, a := range all {
		a.limit = limit
		at := w.clock.Now().Add(a.in)
		called = append(called, w.noteCall(caller, a, at))
		switch a.op {
		case judge.OpSet:
			b.Set(a.key, a.value, a.in)
		case judge.OpSetAt:
			b.SetAt(a.key, a.value, at)
		case judge.OpMove:
			b.Move(a.key, a.in)
		case judge.OpMoveAt:
			b.MoveAt(a.key, at)
		}
	}
	err := w.timers.Load().Batch(ctx, &b)
	result = resultOf(err)
	for i, r := range called {
		if b.Took(i) {
			w.answered(r, "", true, nil)
		} else {
			w.answered(r, "", false, b.Err(i))
		}
	}
	return result
}
