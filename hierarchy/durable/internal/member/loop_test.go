package member

import (
	"context"
	"errors"
	"flag"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
	"github.com/epicycle-go/epicycle/tests/long"
)

// Members share partitions, driven by one loop: what a Member does in goroutines is done in coroutines, of which the one
// whose time is next goes on. So the same history always has the same trace.

var (
	histories = flag.Int("histories", long.Or(30, 300), "how many histories of members are gone through")
	first     = flag.Uint64("seed", 0, "the seed of the first history")
)

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
	for range h.Workers {
		l.start()
	}
	for _, s := range h.Steps {
		l.r = steps.Rand(s)
		l.pass(time.Duration(l.r.Int64N(int64(testLease))))
		if l.wrong != nil {
			return
		}
		l.trouble(l.processes[l.r.IntN(len(l.processes))])
		l.Faults++
	}
	for _, p := range l.processes {
		p.cut, p.paused, p.level = false, false, 0
		p.unmute()
	}
	l.Add("calm")
	l.pass(10 * testLease)
	l.isShared()
	l.Histories++
	l.Time += l.now()
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

func (l *loop) wake(b *fiber) { b.at = min(b.at, l.now()) }

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
		l.judge()
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
		p.kill()
	}
	for len(l.fibers) > 0 {
		l.stop(l.fibers[0])
	}
}

// member is a process that joins again and again.
type member struct {
	*loop
	n      int
	rate   float64
	cfg    Config
	m      *Member // of its present membership
	fibers []*fiber
	inbox  []late // what the watch has yet to show
	shows  *fiber

	dead, cut, paused, mute bool
	level                   int // of faults of calls, in percent
	renewals                renewals
}

// late is a record that a watch shows at a time.
type late struct {
	at time.Duration
	storage.Record
}

// start starts a process. Its clock is up to 10 % fast or slow.
func (l *loop) start() {
	p := &member{loop: l, n: len(l.processes), rate: 0.9 + 0.2*l.r.Float64()}
	p.cfg = Config{Store: p, Partitions: partitions, Lease: testLease,
		Boot: func() time.Duration { return time.Hour + time.Duration(p.rate*float64(l.now())) }}
	if l.r.IntN(3) == 0 {
		p.cfg.Lease /= 2
	}
	l.processes = append(l.processes, p)
	p.shows = l.fiber(p, 0, p.show)
	p.fibers = []*fiber{p.shows, l.fiber(p, 1, p.live), l.fiber(p, 2, p.bury), l.fiber(p, 3, p.share)}
}

// kill ends a process. What it has sent arrives.
func (p *member) kill() {
	if p.dead {
		return
	}
	p.dead = true
	if p.m != nil {
		p.m.Stop()
	}
	for _, b := range p.fibers {
		p.loop.stop(b)
	}
}

// live joins, and renews the lease until it is lost. Then it begins anew.
func (p *member) live() {
	for !p.dead {
		cfg, _ := p.cfg.withDefaults()
		cfg.ID = ID(p.r.Uint64() | 1)
		p.m, p.renewals = newMember(cfg), renewals{}
		p.unmute()
		(&watching{Member: p.m}).read()
		if p.m.join(p.m.ctx) == nil {
			p.Add("%v process %d has joined as %v", p.now(), p.n, p.m.id)
			p.joined++
			p.renew()
			p.judgeLoss()
			p.lost++
		}
		p.m.Stop()
		p.Add("%v process %d is %v no more", p.now(), p.n, p.m.id)
		if !p.sleep(testLease / 20) {
			return
		}
	}
}

// renew is Member.renew.
func (p *member) renew() {
	for {
		begun := p.m.cfg.Boot()
		for p.m.cfg.Boot() < begun+p.m.cfg.Renew {
			if p.m.ctx.Err() != nil || !p.sleep(p.m.cfg.Renew/4) {
				return
			}
			select {
			case <-p.m.hurry:
				begun = 0
			default:
			}
		}
		if p.m.renewal(p.m.ctx) != nil {
			return
		}
	}
}

// bury is Member.bury.
func (p *member) bury() {
	for p.sleep(testLease / 24) {
		if target, _ := p.m.next(); target.key != "" && p.m.deleteDead(target) {
			p.Add("%v process %d has found %v dead, or not", p.now(), p.n, target.key)
		}
	}
}

// share claims and gives partitions, as planned.
func (p *member) share() {
	for p.sleep(testLease/20 + time.Duration(p.r.Int64N(int64(testLease/20)))) {
		v := p.m.View()
		for at, to := range v.Plan() {
			p.decide(p.m, at, v.Claims[at], to)
		}
	}
}

func (p *member) decide(m *Member, at int, c Claim, to ID) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(p.r.Int64N(int64(testLease))))
	defer cancel()
	switch {
	case to == m.id && (c.Free || c.Holder == m.id && !m.mine[at].Load()):
		if err := m.Claim(ctx, at); err == nil {
			p.Add("%v process %d has partition %d", p.now(), p.n, at)
			p.took++
		}
	case c.Holder == m.id && to != m.id && to != 0:
		if err := m.Give(ctx, at, to); err == nil {
			p.Add("%v process %d has given partition %d to %v", p.now(), p.n, at, to)
			p.gave++
		}
	}
}

// show is the watch: it shows what has changed, in order.
func (p *member) show() {
	for {
		for len(p.inbox) > 0 && p.inbox[0].at <= p.now() && !p.cut && p.m != nil {
			r := p.inbox[0].Record
			p.inbox = p.inbox[1:]
			p.m.apply(r)
		}
		wait := testLease / 10
		if len(p.inbox) > 0 && !p.cut {
			wait = max(1, p.inbox[0].at-p.now())
		}
		if !p.sleep(wait) {
			return
		}
	}
}

// unmute begins another watch, which shows all records.
func (p *member) unmute() {
	p.mute, p.inbox = false, nil
	for _, r := range p.table.all() {
		p.inbox = append(p.inbox, late{p.now(), r})
		if p.m != nil {
			p.m.apply(r)
		}
	}
}

var errCall = errors.New("failed")

// trouble does something to a process.
func (l *loop) trouble(p *member) {
	if p.dead {
		l.start()
		return
	}
	on := l.r.IntN(2) == 0
	kind := l.r.IntN(10)
	l.Add("%v trouble %d with process %d: %v", l.now(), kind, p.n, on)
	switch kind {
	case 0, 1:
		p.cut = on
	case 2:
		p.mute = true
	case 3:
		p.unmute()
	case 4:
		p.paused = on
	case 5, 6:
		p.level = l.r.IntN(101)
	case 7:
		p.kill()
		l.start()
	case 8: // the table is away
		for _, p := range l.processes {
			p.cut = on
		}
	case 9: // and comes back when all leases are over
		for _, p := range l.processes {
			p.cut = true
		}
		l.pass(2 * testLease)
		for _, p := range l.processes {
			p.cut = false
		}
	}
}
