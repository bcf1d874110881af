package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/docs/terminal"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

const (
	soonest  = 200 * time.Millisecond
	latest   = 2500 * time.Millisecond
	removals = 10 // each so many-th timer is removed again
)

// child is a process that sets timers, and may be killed.
type child struct {
	number  string        // of the process
	callers int           // goroutines that set timers, one after the other
	pause   time.Duration // of each, between two timers
	mu      sync.Mutex    // held while a line is written
	out     io.Writer
	shared  bool // with other processes
	timers  *durable.Keyed[string, string]
	next    atomic.Int64
}

// runChild sets timers until its input says that it is to finish. Then it waits until all have
// fired. If its input ends before, so does the process: nobody is left to read.
func runChild(dir, number string, in io.Reader, out, errs io.Writer) int {
	c := &child{number: number, callers: 16, pause: time.Millisecond, out: out}
	return c.run(durable.Config[string, string]{Dir: dir}, in, errs)
}

func (c *child) run(cfg durable.Config[string, string], in io.Reader, errs io.Writer) int {
	if err := c.work(cfg, bufio.NewScanner(in)); err != nil {
		fmt.Fprintln(errs, err)
		return terminal.ExitFailed
	}
	return terminal.ExitOK
}

func (c *child) work(cfg durable.Config[string, string], in *bufio.Scanner) (err error) {
	ctx := context.Background()
	cfg.Handle = c.handle
	if c.timers, err = durable.Open(ctx, cfg); err != nil {
		return err
	}
	defer c.timers.Close()
	c.say(lineOpen, time.Now().UnixNano())
	if c.shared {
		go c.tellOwners()
	}
	enough, stop := context.WithCancel(ctx)
	var setters sync.WaitGroup
	for range c.callers {
		setters.Go(func() { c.set(enough) })
	}
	told := in.Scan()
	stop()
	if !told {
		return in.Err()
	}
	setters.Wait()
	if in.Text() == sayLeave {
		return c.timers.Shutdown(ctx)
	}
	return c.finish(ctx)
}

// finish waits until nothing is pending.
func (c *child) finish(ctx context.Context) error {
	for {
		n, err := c.timers.Len(ctx)
		if err != nil && !errors.Is(err, durable.ErrUnavailable) {
			return err
		}
		if err == nil && n == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.timers.Shutdown(ctx); err != nil {
		return err
	}
	st := c.timers.Stats()
	c.say(lineDone, st.Pending, st.Dead, st.Frames, st.Bytes, st.LogBytes)
	return nil
}

// handle notes that a timer is due, unless it was removed meanwhile.
func (c *child) handle(ctx context.Context, f durable.Firing[string, string]) error {
	now := time.Now().UnixNano()
	if f.Value != valueOf(f.Key) {
		c.say(lineFailed, fmt.Sprintf("timer %s has the value %q", f.Key, f.Value))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil { // else its removal may have been noted
		fmt.Fprintf(c.out, lineFire+"\n", f.Key, f.ID, f.Attempt, f.Epoch, f.Due.UnixNano(), now)
	}
	return nil
}

// set sets one timer after the other, and removes some.
func (c *child) set(enough context.Context) {
	for enough.Err() == nil {
		n := c.next.Add(1)
		key := fmt.Sprintf("%s/%d", c.number, n)
		c.say(lineSetting, key)
		err := c.timers.Set(context.Background(), key, valueOf(key), soonest+rand.N(latest-soonest))
		if errors.Is(err, durable.ErrUnavailable) { // it may have taken hold
			time.Sleep(unavailablePause)
			continue
		}
		if err != nil {
			c.say(lineFailed, "Set: "+err.Error())
			return
		}
		c.say(lineSet, key)
		if n%removals == 0 && !c.remove(key) {
			return
		}
		time.Sleep(c.pause)
	}
}

// unavailablePause is how long a caller waits before it tries another timer.
const unavailablePause = 20 * time.Millisecond

// remove removes a timer. It is false if that failed.
func (c *child) remove(key string) bool {
	c.say(lineRemoving, key)
	switch _, ok, err := c.timers.Remove(context.Background(), key); {
	case errors.Is(err, durable.ErrUnavailable): // it may have taken hold
	case err != nil:
		c.say(lineFailed, "Remove: "+err.Error())
		return false
	case ok:
		c.say(lineRemoved, key, time.Now().UnixNano())
	default:
		c.say(lineGone, key)
	}
	return true
}

// say writes one line, at once: what a buffer holds dies with the process.
func (c *child) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, format+"\n", args...)
}

func valueOf(key string) string { return "order " + key }
