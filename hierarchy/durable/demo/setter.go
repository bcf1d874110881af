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

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

const (
	soonest  = 200 * time.Millisecond
	latest   = 2500 * time.Millisecond
	removals = 10 // each so many-th timer is removed again
)

// setter is a process that sets timers, and may be killed.
type setter struct {
	childConfig
	callers int           // goroutines that set timers, one after the other
	pause   time.Duration // of each, between two timers
	shared  bool          // with other processes
	rec     judge.Recorder
	timers  *durable.Keyed[string, string]
	next    atomic.Int64
	serial  atomic.Int64
}

// runSetter sets timers until a command tells it to finish. Then it waits until all have fired. If its input ends
// first, it returns, since its parent has ended.
func runSetter(cfg childConfig, in io.Reader, out io.Writer) error {
	s := &setter{childConfig: cfg, callers: 16, pause: time.Millisecond}
	s.rec.Out, s.rec.Now = out, func() int64 { return time.Now().UnixNano() }
	open := durable.Config[string, string]{Dir: cfg.Dir}
	if cfg.URLs != "" {
		nc, err := s.share(cfg.URLs)
		if err != nil {
			return err
		}
		defer nc.Close()
		open.Conn, open.Lease = nc, workerLease
	}
	return s.work(open, bufio.NewScanner(in))
}

func (s *setter) work(cfg durable.Config[string, string], in *bufio.Scanner) (err error) {
	ctx := context.Background()
	cfg.Handle = s.handle
	if s.timers, err = durable.Open(ctx, cfg); err != nil {
		return err
	}
	defer s.timers.Close()
	s.say(judge.Record{Kind: judge.IsOpen})
	if s.shared {
		go s.tellOwners()
	}
	enough, stop := context.WithCancel(ctx)
	var setters sync.WaitGroup
	for range s.callers {
		setters.Go(func() { s.set(enough) })
	}
	told := in.Scan()
	stop()
	if !told {
		return in.Err()
	}
	setters.Wait()
	if in.Text() == sayLeave {
		return s.timers.Shutdown(ctx)
	}
	return s.finish(ctx)
}

// finish waits until nothing is pending.
func (s *setter) finish(ctx context.Context) error {
	for {
		n, err := s.timers.Len(ctx)
		if err != nil && !errors.Is(err, durable.ErrUnavailable) {
			return err
		}
		if err == nil && n == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := s.timers.Shutdown(ctx); err != nil {
		return err
	}
	st := s.timers.Stats()
	s.say(judge.Record{Kind: judge.IsLeft, Left: &judge.Left{Pending: st.Pending, Dead: st.Dead, Frames: st.Frames, Bytes: st.Bytes, LogBytes: st.LogBytes}})
	return nil
}

// handle records that a timer is due, unless it was removed meanwhile.
func (s *setter) handle(ctx context.Context, f durable.Firing[string, string]) error {
	r := judge.Record{Kind: judge.IsFire, Time: s.rec.Now(), Key: f.Key, ID: f.ID.String(), Attempt: f.Attempt, Epoch: f.Epoch, Due: f.Due.UnixNano()}
	if f.Value != valueOf(f.Key) {
		s.wrong("timer %s has the value %q", f.Key, f.Value)
	}
	if ctx.Err() == nil { // otherwise its removal may have been recorded
		s.say(r)
		s.say(judge.Record{Kind: judge.IsEnd, ID: r.ID, Attempt: r.Attempt, Epoch: r.Epoch, OK: true})
	}
	return nil
}

// set sets one timer after the other, and removes some.
func (s *setter) set(enough context.Context) {
	for enough.Err() == nil {
		n := s.next.Add(1)
		key := fmt.Sprintf("%d/%d", s.Number, n)
		took, ok := s.call(judge.OpSet, key, func() (bool, error) {
			_, err := s.timers.Set(context.Background(), key, valueOf(key), soonest+rand.N(latest-soonest))
			return true, err
		})
		if took && n%removals == 0 {
			_, ok = s.call(judge.OpRemove, key, func() (bool, error) {
				_, there, err := s.timers.Remove(context.Background(), key)
				return there, err
			})
		}
		switch {
		case !ok:
			return
		case took:
			time.Sleep(s.pause)
		default:
			time.Sleep(unavailablePause)
		}
	}
}

// unavailablePause is how long a caller waits before it tries another timer.
const unavailablePause = 20 * time.Millisecond

// opNames are the names of operations in errors.
var opNames = map[string]string{judge.OpSet: "Set", judge.OpRemove: "Remove"}

// call does an operation. It reports whether it was committed, and whether there was no unexpected error. If the timers
// are not available, it may have been committed all the same.
func (s *setter) call(op, key string, do func() (bool, error)) (took, ok bool) {
	serial := s.serial.Add(1)
	s.say(judge.Record{Kind: judge.IsCall, Serial: serial, Op: op, Key: key})
	switch there, err := do(); {
	case errors.Is(err, durable.ErrUnavailable):
		return false, true
	case err != nil:
		s.wrong("%s: %v", opNames[op], err)
		return false, false
	default:
		s.say(judge.Record{Kind: judge.IsAnswer, Serial: serial, Op: op, Key: key, OK: there, Result: judge.Took})
		return true, true
	}
}

func (s *setter) wrong(format string, args ...any) {
	s.say(judge.Record{Kind: judge.IsWrong, Error: fmt.Sprintf(format, args...)})
}

// say writes a record at once, since a buffer would be lost when the process is killed. Errors are ignored, since
// nobody would read them.
func (s *setter) say(r judge.Record) { _ = s.rec.Write(r) }

func valueOf(key string) string { return "order " + key }
