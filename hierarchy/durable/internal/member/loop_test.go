package member

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
	"github.com/epicycle-go/epicycle/tests/long"
)

// Members share partitions, driven by one loop: what a Member does in goroutines is done in coroutines, of which the one
// whose time is next goes on. So the same history always has the same trace.

var histories, first = steps.Flags(long.Or(30, 300))

// history returns that of a seed.
func history(seed uint64) steps.History { return steps.Draw(seed, 2+int(seed%4), 40) }

// Connections, answers, watches, clocks and processes fail. At no instant do two processes own a partition, and the
// other clauses of judge hold. When the faults have ended, the partitions are shared as planned.
func TestHistoriesOfLeases(t *testing.T) {
	var total tally
	for i := range uint64(*histories) {
		steps.Check(t, *first+i, history(*first+i), func(h steps.History, trace *steps.Trace) error {
			return inLoop(t, h, trace, &total)
		})
	}
	t.Logf("%+v", total.counts)
	t.Log(total.Tally)
	if *histories >= 30 {
		require.NotZero(t, total.lost)
		require.NotZero(t, total.gave)
		require.NotZero(t, total.took)
		require.NotZero(t, total.buried)
	}
}

// The same seed has the same trace.
func TestSameTrace(t *testing.T) {
	for seed := range uint64(5) {
		require.NoError(t, history(seed).Same(func(h steps.History, trace *steps.Trace) error {
			return inLoop(t, h, trace, new(tally))
		}))
	}
}

// tally counts what has happened, so that one can see that histories are worth something.
type tally struct {
	steps.Tally
	counts
}

type counts struct{ joined, lost, took, gave, buried int }

// loop is a table and the processes that share it.
type loop struct {
	*steps.Trace
	*tally
	begun     time.Time
	r         *rand.Rand // of the present step
	table     table
	processes []*member
	fibers    []*fiber
	current   *fiber
	wrong     error
	quiet     bool // there are no faults any more
	held      bool // no lease may end
}

// partitions is how many the members share.
const partitions = 4

// fiber is a coroutine.
type fiber struct {
	of    *member // nil for what is on its way
	at    time.Duration
	yield func(time.Duration) bool
	next  func() (time.Duration, bool)
	stop  func()
}

func inLoop(t *testing.T, h steps.History, trace *steps.Trace, count *tally) (err error) {
	synctest.Test(t, func(*testing.T) {
		l := &loop{Trace: trace, tally: count, begun: time.Now(), r: rand.New(rand.NewPCG(0, 0))}
		l.table.loop = l
		defer l.end()
		_, err = h.Do(func(h steps.History, _ *steps.Trace) error {
			l.run(h)
			return l.wrong
		})
	})
	return err
}

// run carries the steps of a history out.
func (l *loop) run(h steps.History) {
	if len(h.Steps) > 0 {
		l.r = steps.Rand(h.Steps[0] + 1)
	}
	l.table.ahead = time.Duration(l.r.Int64N(int64(time.Hour)))
	l.strangers()
	for range h.Workers {
		l.start()
	}
	l.observe()
	for _, s := range h.Steps {
		l.r = steps.Rand(s)
		l.pass(time.Duration(l.r.Int64N(int64(testLease))))
		if l.wrong != nil {
			return
		}
		l.trouble(l.processes[l.r.IntN(len(l.processes))])
		l.Faults++
	}
	l.calm()
	l.Histories++
	l.Time += l.now()
}

// calm ends all faults, and goes through what is judged without them.
func (l *loop) calm() {
	for _, p := range l.processes {
		p.cut, p.unheard, p.level = false, false, 0
		p.pause(false)
		p.setOff(false)
	}
	l.quiet = true
	l.Add("calm")
	l.pass(6 * testLease)
	l.isShared()
	l.away()
	l.isShared()
	l.deaths()
}

func (l *loop) now() time.Duration { return time.Since(l.begun) }

// run runs f in a coroutine, from a time on.
func (l *loop) fiber(of *member, after time.Duration, f func()) *fiber {
	b := &fiber{of: of, at: l.now() + after}
	b.next, b.stop = iter.Pull(func(yield func(time.Duration) bool) {
		b.yield = yield
		f()
	})
	l.fibers = append(l.fibers, b)
	return b
}

// sleep ends the turn of a coroutine for a time, or until it is woken. It reports false if the coroutine has to end.
func (l *loop) sleep(d time.Duration) bool { return l.current.yield(d) }

// wake wakes coroutines that sleep.
func (l *loop) wake(fibers ...*fiber) {
	for _, b := range fibers {
		b.at = min(b.at, l.now())
	}
}

// pass lets time pass.
func (l *loop) pass(d time.Duration) {
	for end := l.now() + d; l.wrong == nil; {
		b := l.earliest()
		if b == nil || b.at > end {
			time.Sleep(end - l.now())
			return
		}
		time.Sleep(b.at - l.now())
		l.resume(b)
		l.judge(b.of)
	}
}

// earliest returns the coroutine whose time is next.
func (l *loop) earliest() (next *fiber) {
	for _, b := range l.fibers {
		if (b.of == nil || !b.of.paused) && (next == nil || b.at < next.at) {
			next = b
		}
	}
	return next
}

// resume gives a coroutine its turn.
func (l *loop) resume(b *fiber) {
	l.current = b
	d, more := b.next()
	if !more {
		l.fibers = slices.DeleteFunc(l.fibers, func(c *fiber) bool { return b == c })
		return
	}
	b.at = l.now() + d
}

// stop ends a coroutine.
func (l *loop) stop(b *fiber) {
	l.current = b
	b.stop()
	l.fibers = slices.DeleteFunc(l.fibers, func(c *fiber) bool { return b == c })
}

func (l *loop) end() {
	for _, p := range l.processes {
		if p.m != nil {
			p.m.Stop()
		}
	}
	for len(l.fibers) > 0 {
		l.stop(l.fibers[0])
	}
}
