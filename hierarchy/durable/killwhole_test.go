package durable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// wholeWorker is set in the process that TestKillNineWhole kills: its directory.
const wholeWorker = "EPICYCLE_TEST_WHOLE_WORKER"

const (
	wholePeriod   = 50 * time.Millisecond // of the schedules
	wholeTimeout  = 60 * time.Millisecond // of an attempt
	wholeAttempts = 2
)

// wholeSchedules are the keys of schedules, and what they do with runs that were missed.
var wholeSchedules = map[string]durable.Missed{
	"run-once": durable.MissedOnce, "run-skip": durable.MissedSkip, "run-all": durable.MissedAll,
}

// wholeConfig is the configuration of each process. say notes a line that is made while nothing else is noted.
func wholeConfig(dir string, say func(line func() string)) durable.Config[string, string] {
	return durable.Config[string, string]{Dir: dir, Timeout: wholeTimeout, MaxAttempts: wholeAttempts, Concurrency: 8,
		Backoff: func(int) time.Duration { return 10 * time.Millisecond },
		Handle:  func(ctx context.Context, f firing) error { return wholeHandle(ctx, f, say) }}
}

// wholeHandle is quick for schedules and plain timers, and hangs for the others: as long as it may, or longer.
func wholeHandle(ctx context.Context, f firing, say func(line func() string)) error {
	switch kind, _, _ := strings.Cut(f.Key, "-"); kind {
	case "hang":
		<-ctx.Done()
		return context.Cause(ctx)
	case "deaf":
		time.Sleep(4 * wholeTimeout)
		return nil
	}
	say(func() string {
		kind := "fire"
		if ctx.Err() != nil { // another attempt, or the next run, may have said so before
			kind = "late"
		}
		return fmt.Sprintf("%s %s %v %d %d", kind, f.Key, f.ID, f.Due.UnixNano(), f.Missed)
	})
	return nil
}

// workWhole sets timers with conditions, with schedules, and with handlers that hang, until it is killed.
func workWhole(dir string, _ io.Reader, _ io.Writer) error {
	h := new(hand)
	var err error
	h.timers, err = durable.Open(context.Background(), wholeConfig(dir, h.sayLine))
	h.must(err)
	h.say("open")
	h.schedule()
	race := new(atomic.Int64)
	for g := range 3 {
		go h.race(g, race)
	}
	for g := range 2 {
		go h.change(g)
	}
	go h.hang()
	go h.plain()
	select {}
}

// schedule sets the schedules that are not there. A process that was killed may have set some.
func (h *hand) schedule() {
	for key, missed := range wholeSchedules {
		_, ok, err := h.timers.Lookup(context.Background(), key)
		h.must(err)
		if !ok {
			s, err := durable.ParseSchedule(fmt.Sprintf("@every %v", wholePeriod))
			h.must(err)
			h.must(errOf(h.timers.SetSchedule(context.Background(), key, key, s.OnMissed(missed))))
		}
	}
}

// race has callers set the same keys if they are absent: who is told that it took has set the value.
func (h *hand) race(g int, at *atomic.Int64) {
	for {
		n := at.Add(1) / 3
		key := fmt.Sprintf("race-%d-%d", os.Getpid(), n)
		_, ok, err := h.timers.SetIfAbsent(context.Background(), key, fmt.Sprintf("%d-%d", g, n), time.Hour)
		h.must(err)
		h.say("raced %s %d-%d %v", key, g, n, ok)
		time.Sleep(time.Millisecond)
	}
}

// change changes a timer of its own by conditions, again and again. It knows the answers.
func (h *hand) change(g int) {
	key := fmt.Sprintf("own-%d-%d", os.Getpid(), g)
	ctx := context.Background()
	value := 0
	next := func() string { value++; h.say("begin %s %d", key, value); return fmt.Sprint(value) }
	h.must(errOf(h.timers.Set(ctx, key, next(), time.Hour)))
	for {
		h.say("done %s %d", key, value)
		for _, c := range []struct {
			set  func(context.Context, string, string, time.Duration) (entry, bool, error)
			in   time.Duration
			want bool
		}{
			{h.timers.SetIfAbsent, time.Minute, false}, {h.timers.SetLater, 30 * time.Minute, false}, {h.timers.SetSooner, 30 * time.Minute, true},
			{h.timers.SetSooner, 45 * time.Minute, false}, {h.timers.SetLater, 50 * time.Minute, true},
		} {
			v := "not " + key
			if c.want {
				v = next()
			}
			e, ok, err := c.set(ctx, key, v, c.in)
			if h.must(err); ok != c.want || e.Key != key || e.Value != fmt.Sprint(value) {
				h.must(fmt.Errorf("%v by a condition for %v: %v", ok, c.in, e))
			}
		}
		was := fmt.Sprint(value)
		old, replaced, err := h.timers.Swap(ctx, key, next(), time.Hour)
		if h.must(err); !replaced || old != was {
			h.must(fmt.Errorf("Swap replaced %q: %v, and %q was there", old, replaced, was))
		}
	}
}

// hang sets timers whose handlers hang. Without Timeout they would hold up all others soon. There are few of them, as those
// whose attempts a kill interrupts are tried one at a time.
func (h *hand) hang() {
	for n := 0; ; n++ {
		key := fmt.Sprintf("%s-%d-%d", []string{"hang", "deaf"}[n%2], os.Getpid(), n)
		h.must(errOf(h.timers.Set(context.Background(), key, "", 0)))
		h.say("hangs %s", key)
		time.Sleep(40 * time.Millisecond)
	}
}

// plain sets timers that are to fire.
func (h *hand) plain() {
	for n := 0; ; n++ {
		key := fmt.Sprintf("plain-%d-%d", os.Getpid(), n)
		_, err := h.timers.Set(context.Background(), key, "", time.Duration(n%100)*time.Millisecond)
		if errors.Is(err, durable.ErrUnavailable) {
			continue
		}
		h.must(err)
		h.say("set %s", key)
		time.Sleep(time.Millisecond)
	}
}
