//go:build linux

package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// wallZero returns the wall time when the machine's monotonic clock was 0. It is the same for all processes of a run.
// They don't read the machine's wall clock, as somebody could set it.
func wallZero() int64 { return time.Now().UnixNano() - mono() }

// skewed is a worker's clock: clock.Precise() with a wall clock that is off, and can be set.
type skewed struct {
	clock.Clock
	zero   int64 // see wallZero
	offset atomic.Int64
}

func newSkewed(zero, offset int64) *skewed {
	c := &skewed{Clock: clock.Precise(), zero: zero}
	c.offset.Store(offset)
	return c
}

func (c *skewed) Now() time.Time { return time.Unix(0, c.zero+mono()+c.offset.Load()) }

// right returns the time of a wall clock without an offset.
func (c *skewed) right() time.Time { return time.Unix(0, c.zero+mono()) }

// setClock sets the wall clock forward or back. It writes a record before and one after that.
func (w *worker) setClock(by time.Duration) {
	offset := w.clock.offset.Load() + int64(by)
	w.rec.write(judge.Record{Kind: judge.IsClock, Offset: offset})
	w.clock.offset.Store(offset)
	w.rec.write(judge.Record{Kind: judge.IsSet})
}

const (
	leastJump = 5 * time.Second // more than the due times of one key differ by, so that these can be distinguished
	mostJump  = time.Hour
	afterAll  = 24 * time.Hour // by how much clocks are set forward at the end: more than all jumps together
)

// offsetOf returns how far the clock of a worker is off, if it is not set.
func offsetOf(seed uint64, number int) int64 {
	return rand.New(rand.NewPCG(seed, 1<<32+uint64(number))).Int64N(int64(2*judge.MostOff)) - int64(judge.MostOff)
}

// jumpOf returns by how much workers' clocks are set in a run, except in mode jumps. All are set in one direction.
func jumpOf(seed uint64) time.Duration {
	if seed%2 == 0 {
		return leastJump
	}
	return -leastJump
}

// drawJump returns by how much a clock is set: some seconds as often as an hour.
func drawJump(r *rand.Rand) time.Duration {
	d := leastJump
	for range r.IntN(10) {
		d *= 2
	}
	d = min(d+time.Duration(r.Int64N(int64(d))), mostJump)
	if r.IntN(2) == 0 {
		return -d
	}
	return d
}

// listener is a log handler that finds out which partitions a worker owns.
type listener struct {
	slog.Handler
	rec *recorder
}

// ownedMessage is the message that the library logs when it has taken a partition over.
const ownedMessage = "durable: a partition is owned"

func (l listener) Handle(ctx context.Context, said slog.Record) error {
	if said.Message == ownedMessage {
		r := judge.Record{Kind: judge.IsOwned}
		said.Attrs(func(a slog.Attr) bool {
			switch a.Key {
			case "partition":
				r.Partition = int(a.Value.Int64())
			case "epoch":
				r.Epoch = a.Value.Uint64()
			case "ahead":
				r.Offset = int64(a.Value.Duration())
			}
			return true
		})
		l.rec.write(r)
	}
	return l.Handler.Handle(ctx, said)
}

func (l listener) WithAttrs(attrs []slog.Attr) slog.Handler {
	return listener{l.Handler.WithAttrs(attrs), l.rec}
}

func (l listener) WithGroup(name string) slog.Handler {
	return listener{l.Handler.WithGroup(name), l.rec}
}
