package partition

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// bench is a partition on a mock clock and a log in memory, which can be opened again.
type bench struct {
	*require.Assertions
	t        testing.TB
	disk     *memlog.Disk
	mock     *clock.Mock
	cfg      Config
	log      *memlog.Log
	p        *Partition
	handle   func(context.Context, core.Firing) error // nil: the handler returns nil
	before   func(last uint64)                        // of the log, if not nil
	appended hook                                     // of the log, after each append

	mu    sync.Mutex
	fired []core.Firing
}

// realClock is for tests of what needs several goroutines at once.
func realClock() clock.Clock { return clock.Precise() }

func newBench(t testing.TB) *bench {
	b := &bench{Assertions: require.New(t), t: t, disk: new(memlog.Disk), mock: clock.NewMock()}
	b.mock.Add(1000 * time.Hour) // the epoch is a time like any other
	b.cfg = Config{
		Config: core.Config{Partition: 3, MaxAttempts: 3,
			Backoff: func(attempt int) time.Duration { return time.Duration(attempt) * time.Second }},
		Partitions: 8, Clock: b.mock, Precision: time.Millisecond, Crew: NewCrew(16), Logger: slog.New(slog.DiscardHandler), Owner: "test",
		Patience: storage.Patience{Answer: 20 * time.Millisecond, Pause: 20 * time.Microsecond},
		Handle: func(ctx context.Context, f core.Firing) error {
			b.mu.Lock()
			b.fired = append(b.fired, f)
			b.mu.Unlock()
			if b.handle != nil {
				return b.handle(ctx, f)
			}
			return nil
		},
	}
	t.Cleanup(func() {
		if b.p != nil {
			b.crash()
		}
	})
	return b
}

// hook is a function that may change while the log is in use.
type hook struct{ atomic.Pointer[func(uint64)] }

func (h *hook) set(f func(uint64)) { h.Store(&f) }

func (h *hook) call(last uint64) {
	if f := h.Load(); f != nil {
		(*f)(last)
	}
}

// open opens the partition with a new connection.
func (b *bench) open() {
	b.NoError(b.tryOpen())
}

func (b *bench) tryOpen() (err error) {
	b.log = b.disk.Open()
	b.log.Before, b.log.After = b.before, b.appended.call
	b.p, err = Open(b.t.Context(), b.cfg.with(b.log))
	return err
}

func (cfg Config) with(log storage.Log) Config {
	cfg.Log = log
	return cfg
}

// crash ends the partition like the death of its process.
func (b *bench) crash() {
	b.p.kill(b.log)
	b.p = nil
}

func (p *Partition) kill(log *memlog.Log) {
	p.firer.halt()
	log.Close()
	p.writer.abandon()
	p.firer.cancel()
	<-p.writer.stopped
	p.firer.alarm.Stop()
}

// shut ends the partition in order.
func (b *bench) shut() {
	b.NoError(b.p.Shutdown(b.t.Context()))
	b.p = nil
}

// do does one operation, and reports whether it changed anything.
func (b *bench) do(a core.Op) (took bool) {
	took, err := b.try(a)
	b.NoError(err)
	return took
}

func (b *bench) try(a core.Op) (bool, error) {
	c := &core.Call{Ops: []core.Op{a}}
	err := b.p.Do(b.t.Context(), c)
	return c.Took[0], err
}

// begun returns a call as Start puts it into the queue.
func (b *bench) begun(c *core.Call) *Pending {
	c.Begin(&b.p.cfg.Config, b.p.time.now(), b.p.time.wall())
	return newPending(c, &b.p.pendings)
}

// start begins a call, and does not wait for its answer.
func (b *bench) start(c *core.Call) *Pending {
	started, err := b.p.Start(c)
	b.NoError(err)
	return started
}

func (b *bench) set(k, v string, d time.Duration) {
	b.True(b.do(core.Op{Kind: frame.Set, Key: []byte(k), Value: []byte(v), In: d}))
}

func (b *bench) setAt(k, v string, t time.Time) {
	b.True(b.do(core.Op{Kind: frame.SetAt, Key: []byte(k), Value: []byte(v), Due: t.UnixNano()}))
}

func (b *bench) move(k string, d time.Duration) bool {
	return b.do(core.Op{Kind: frame.Move, Key: []byte(k), In: d})
}

func (b *bench) remove(k string) (string, bool) {
	c := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte(k)}}}
	b.NoError(b.p.Do(b.t.Context(), c))
	return strings.Join(c.Values, ""), c.Took[0]
}

func (b *bench) revive(k string) bool { return b.do(core.Op{Kind: frame.Revive, Key: []byte(k)}) }

// get is the value and the remaining time of a key, or "-".
func (b *bench) get(k string) (string, time.Duration) {
	v, d, ok, err := b.p.Get([]byte(k))
	b.NoError(err)
	if !ok {
		return "-", 0
	}
	return v, d
}

// keys are the keys that are dead, or are not, with their values.
func (b *bench) keys(dead bool) map[string]string {
	keys := make(map[string]string)
	b.NoError(b.p.All(dead, func(t state.Timer) bool {
		_, twice := keys[t.Key]
		b.False(twice)
		keys[t.Key] = t.Value
		return true
	}))
	return keys
}

// took returns what was fired since the last call, as keys.
func (b *bench) took() (keys []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.fired {
		keys = append(keys, f.Key)
	}
	b.fired = nil
	return keys
}

// last is the last firing.
func (b *bench) last() core.Firing {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.NotEmpty(b.fired)
	return b.fired[len(b.fired)-1]
}

var errHandler = errors.New("the handler fails")

// failing is a handler that fails for the keys "fails" and "dead".
func failing(*bench) func(context.Context, core.Firing) error {
	return func(_ context.Context, f core.Firing) error {
		if f.Key == "fails" || f.Key == "dead" {
			return errHandler
		}
		return nil
	}
}

// openHeld opens the partition. Its next frame sends to held when it is about to be appended, and
// waits for hold.
func (b *bench) openHeld() (hold, held chan bool) {
	b.open()
	return b.holdNext()
}

// holdNext holds the next frame as openHeld does.
func (b *bench) holdNext() (hold, held chan bool) {
	hold, held = make(chan bool), make(chan bool)
	first := true
	b.log.Before = func(uint64) {
		if first {
			first = false
			held <- true
			<-hold
		}
	}
	return hold, held
}

// schedule sets a timer with a schedule.
func (b *bench) schedule(k, v, text string) {
	b.True(b.do(core.Op{Kind: frame.SetAt, Key: []byte(k), Value: []byte(v), Schedule: []byte(text)}))
}

func removeOp(k string) core.Op { return core.Op{Kind: frame.Remove, Key: []byte(k)} }

func (b *bench) reopen() {
	b.crash()
	b.open()
}
