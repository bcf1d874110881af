package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
)

// full checks that a log on a full disk loses nothing, and that trimming makes room.
func full(t *testing.T, d Durable) {
	for seed := range uint64(min(d.Seeds, 20)) {
		h := newHistory(t, seed, d)
		h.recover(h.disk)
		h.disk.SetRoom(int64(100 * d.Size))
		h.fill()
		_, problem := h.log.Problem()
		h.ErrorContains(problem, "full")
		if seed%2 == 0 {
			h.reopen()
			h.fill()
		}
		h.fork(h.disk.Crash(h.someCrash())).losePower(h.someCrash())
		h.trimmed = uint64(len(h.all)) + 1
		h.NoError(h.log.Trim(h.ctx, h.trimmed))
		h.Size = min(h.Size, 100)
		h.NoError(h.append(), "there is room again")
		_, problem = h.log.Problem()
		h.NoError(problem)
		h.losePower(h.someCrash())
		h.close()
	}
}

// fill appends until the disk is full.
func (h *history) fill() {
	for range 1000 {
		if err := h.append(); err != nil {
			h.ErrorIs(err, syscall.ENOSPC)
			h.ErrorContains(err, "full")
			return
		}
	}
	h.Fail("the disk was never full")
}

// refused checks that a log that can't be written to is not opened, and not changed.
func refused(t *testing.T, d Durable) {
	for _, why := range []error{syscall.EROFS, syscall.EACCES} {
		for _, before := range []func(*history){
			func(h *history) { h.NoError(h.short(once)) },
			func(h *history) {},
		} {
			h := newHistory(t, 1, d)
			h.recover(h.disk)
			before(h)
			h.close()
			h.disk.Refuse(why)
			h.refuses(why)
			h.disk.Refuse(nil)
			h.recover(h.disk)
			h.close()
		}
		h := newHistory(t, 1, d)
		h.disk.Refuse(why)
		h.refuses(why)
	}
}

// refuses checks that the log can't be opened, and that nothing changes.
func (h *history) refuses(why error) {
	before := h.disk.Clone()
	_, err := h.Open(h.disk)
	h.ErrorIs(err, storage.ErrDenied)
	h.ErrorIs(err, why)
	h.Zero(h.disk.OpenFiles())
	h.Equal(before.Files(), h.disk.Files())
	for _, name := range before.Files() {
		h.Equal(before.Data(name), h.disk.Data(name))
	}
}

// hung checks that nobody waits for a disk that does not answer longer than he wants.
func hung(t *testing.T, d Durable) {
	for _, closing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHistory(t, 3, d)
			h.recover(h.disk)
			h.NoError(h.append())
			h.NoError(h.setMark())
			release := h.disk.Hang()
			h.allEnd()
			if !closing {
				release()
				synctest.Wait()
				h.check()
				h.NoError(h.append())
				h.NoError(h.setMark())
				h.close()
				return
			}
			begun := time.Now()
			closed := h.log.Close()
			h.LessOrEqual(time.Since(begun), time.Second)
			select {
			case <-closed:
				h.Fail("files are open")
			case <-time.After(time.Hour):
			}
			release()
			<-closed
			h.Zero(h.disk.OpenFiles())
			h.recover(h.disk)
			h.close()
		})
	}
}

// allEnd checks that all calls end with their contexts while the disk hangs.
func (h *history) allEnd() {
	ctx := h.ctx
	for _, call := range []func() error{
		h.append,
		h.setMark,
		func() error { return h.log.Trim(h.ctx, 1) },
		func() error { _, err := h.log.Get(h.ctx, 1); return err },
	} {
		begun := time.Now()
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		h.ctx = limited
		h.ErrorIs(call(), context.DeadlineExceeded)
		h.Equal(time.Minute, time.Since(begun))
		cancel()
	}
	h.ctx = ctx
	since, err := h.log.Problem()
	h.ErrorContains(err, "not answered")
	h.Equal(4*time.Minute, time.Since(since))
	_, err = h.log.Bounds(ctx)
	h.NoError(err)
}

// concurrent checks that everything can be called at once, and that closing leaves nothing open.
func concurrent(t *testing.T, d Durable) {
	for seed := range uint64(min(d.Seeds, 10)) {
		disk := memdisk.New(seed)
		log, err := d.Open(disk)
		require.NoError(t, err)
		c := crowd{assert.New(t), t.Context(), log, d.Size}
		var wg sync.WaitGroup
		for _, f := range []func(uint64) error{c.appendOne, c.appendOne, c.readAll, c.readAll, c.trimOne, c.markOne} {
			wg.Go(func() {
				for n := range uint64(60) {
					if c.ended(f(n)) {
						return
					}
				}
			})
		}
		wg.Go(func() {
			time.Sleep(time.Duration(seed) * time.Millisecond) // anything may be going on
			<-log.Close()
			c.Zero(disk.OpenFiles())
		})
		wg.Wait()
		_, err = log.Problem()
		c.NoError(err)
	}
}

// crowd is what uses a log concurrently.
type crowd struct {
	*assert.Assertions
	ctx  context.Context
	log  OnDisk
	size int
}

// ended reports whether the log was closed. Other errors are none, except that somebody else was faster.
func (c crowd) ended(err error) bool {
	if err == nil || errors.Is(err, storage.ErrRefused) || errors.Is(err, storage.ErrAbsent) {
		return false
	}
	c.ErrorContains(err, "closed")
	return true
}

func (c crowd) message(n uint64) []byte {
	return fmt.Appendf(nil, "%*d", c.size/2+int(n)%c.size, n)
}

func (c crowd) appendOne(uint64) error {
	b, _ := c.log.Bounds(c.ctx)
	return c.log.Append(c.ctx, b.Last, c.message(b.Last+1))
}

func (c crowd) readAll(uint64) error {
	b, _ := c.log.Bounds(c.ctx)
	n := b.First
	for data, err := range c.log.Read(c.ctx, b.First, b.Last) {
		if err != nil {
			return err
		}
		c.Equal(c.message(n), data)
		n++
	}
	return nil
}

func (c crowd) trimOne(n uint64) error { return c.log.Trim(c.ctx, n) }

func (c crowd) markOne(n uint64) error {
	return c.log.SetMark(c.ctx, storage.Mark{Number: n, Checksum: uint32(n)})
}
