package storage_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// errFailed is that of a call which decides nothing.
var errFailed = errors.New("no answer")

// connection is the connection of the process that calls Commit.
type connection struct {
	*memlog.Log
	w *world
}

func (c connection) Append(ctx context.Context, last uint64, data []byte) error {
	w := c.w
	w.meanwhile()
	w.copies++
	err := c.Log.Append(ctx, last, data)
	if err != nil && !errors.Is(err, storage.ErrRefused) && !errors.Is(err, storage.ErrTooLarge) && w.fails() {
		<-ctx.Done()
		err = ctx.Err()
	}
	w.Add("append: %v", err)
	w.meanwhile()
	w.silent = err != nil && ctx.Err() != nil && w.ctx.Err() == nil
	w.certain = w.certain && ctx.Err() == nil && (errors.Is(err, storage.ErrRefused) || errors.Is(err, storage.ErrTooLarge))
	return err
}

func (c connection) Get(ctx context.Context, number uint64) (data []byte, err error) {
	if c.w.silent && c.w.doubts == 0 {
		c.w.fail("doubt: nobody is told that the log has not answered")
	}
	if err = c.w.before(ctx); err == nil {
		data, err = c.Log.Get(ctx, number)
	}
	c.w.Add("get: %q, %v", data, err)
	c.w.certain = c.w.certain && (err == nil || errors.Is(err, storage.ErrAbsent))
	return data, err
}

func (c connection) Bounds(ctx context.Context) (b storage.Bounds, err error) {
	if err = c.w.before(ctx); err == nil {
		b, err = c.Log.Bounds(ctx)
	}
	c.w.Add("bounds: %v, %v", b, err)
	c.w.certain = c.w.certain && err == nil
	return b, err
}

// before is called before the log is read: that may take a while, and fail.
func (w *world) before(ctx context.Context) error {
	w.meanwhile()
	switch {
	case !w.fails():
		return ctx.Err()
	case w.r.IntN(2) == 0:
		<-ctx.Done()
		return ctx.Err()
	}
	return errFailed
}

// fails reports whether a call fails.
func (w *world) fails() bool { return time.Now().Before(w.heals) && w.r.IntN(w.rate) == 0 }

// fault is what goes wrong with an append.
func (w *world) fault() memlog.Fault {
	if !w.fails() {
		return memlog.None
	}
	w.Faults++
	return w.faults[w.r.IntN(len(w.faults))]
}

// someOf returns some numbers from 1 to n, so that what needs some kinds of faults one after the other is not rare.
func someOf[T ~uint8 | ~int](r *rand.Rand, n T) (some []T) {
	for range 1 + r.IntN(4) {
		some = append(some, 1+T(r.IntN(int(n))))
	}
	return some
}

// heal ends all faults.
func (w *world) heal() {
	w.disk.SetFull(false)
	w.disk.SetSilent(false)
	w.disk.SetLarge(0)
}

// events is how many kinds of events there are.
const events = 6

// meanwhile does what happens between two calls of a process: others take the log over and trim it, messages arrive late,
// and the log fills up, falls silent, or takes only small messages for a while.
func (w *world) meanwhile() {
	if !time.Now().Before(w.heals) {
		w.heal()
		return
	}
	if !w.fails() {
		return
	}
	w.Faults++
	other := w.disk.Open()
	switch w.events[w.r.IntN(len(w.events))] {
	case 1:
		w.takeOver(other)
	case 2:
		w.Add("late appends arrive")
		w.disk.Arrive()
	case 3:
		time.Sleep(min(time.Until(w.heals), time.Duration(w.r.Int64N(int64(answer)))))
	case 4:
		w.disk.SetFull(w.r.IntN(2) == 0)
	case 5:
		w.disk.SetSilent(w.r.IntN(3) == 0)
	case events:
		most := 20 + w.r.IntN(60)
		w.least = min(w.least, most)
		w.Add("the log takes %d bytes", most)
		w.disk.SetLarge(most)
	}
}

// takeOver appends a message by another process, which may delete all before it, or itself, too, if more follow.
func (w *world) takeOver(other *memlog.Log) {
	last := w.bounds().Last
	if other.Append(context.Background(), last, w.message("other's", last+1)) != nil {
		return
	}
	w.Add("another process appends %d", last+1)
	w.look()
	if w.r.IntN(2) == 0 {
		begin := last + uint64(w.r.IntN(3))
		w.Add("another process deletes what is before %d", begin)
		_ = other.Trim(context.Background(), begin)
	}
}
