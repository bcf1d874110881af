package timers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

const (
	ownedFuncs = 6
	ownedIdles = 6
	ownedLimit = 8
)

// ownedWorld is some FuncTimers and Idles on a wheel with MaxPending, or a model of them.
// The first ones are FuncTimers.
type ownedWorld interface {
	reset(i int, d time.Duration) bool
	touch(i int) bool
	stop(i int) bool
	renew(i int, d time.Duration) error // makes another Idle in that place
	add(d time.Duration)
	state() string // how many are pending, and when the next is due
}

// ownedScript makes the same calls to any world. What callbacks do depends on how many have
// run.
type ownedScript struct {
	ownedWorld
	seed  uint64
	fired int
	trace []string
}

func (s *ownedScript) note(format string, a ...any) {
	s.trace = append(s.trace, fmt.Sprintf(format, a...))
}

// fires is called when a timer fires.
func (s *ownedScript) fires(i int, at time.Duration) {
	s.note("%d fires at %d", i, at)
	s.fired++
	r := rand.New(rand.NewPCG(s.seed, uint64(s.fired)))
	if r.IntN(2) == 0 {
		s.call(r)
	}
}

func (s *ownedScript) call(r *rand.Rand) {
	d := time.Duration(r.Int64N(1 << r.IntN(40)))
	if r.IntN(6) == 0 {
		d = -d
	}
	f, i := r.IntN(ownedFuncs), ownedFuncs+r.IntN(ownedIdles)
	switch r.IntN(8) {
	case 0, 1:
		s.note("reset %d to %d: %v", f, d, s.reset(f, d+1<<20*time.Duration(r.IntN(2))))
	case 2, 3:
		s.note("touch %d: %v", i, s.touch(i))
	case 4:
		s.note("stop %d: %v", f, s.stop(f))
	case 5:
		s.note("stop %d: %v", i, s.stop(i))
	default:
		s.note("renew %d with %d: %v", i, d, s.renew(i, d))
	}
}

func (s *ownedScript) run() []string {
	r := rand.New(rand.NewPCG(s.seed, 0))
	for range 400 {
		if r.IntN(3) > 0 {
			s.call(r)
		} else {
			s.add(time.Duration(r.Int64N(1 << r.IntN(36))))
		}
		s.note("%s", s.state())
	}
	return s.trace
}

// realOwned is a wheel on a mock.
type realOwned struct {
	script *ownedScript
	m      *clock.Mock
	w      *hierarchy.Wheel
	funcs  [ownedFuncs]*hierarchy.FuncTimer
	idles  [ownedFuncs + ownedIdles]*hierarchy.Idle
}

func newRealOwned(t *testing.T, s *ownedScript) *realOwned {
	x := &realOwned{script: s}
	x.w, x.m = wheeltest.OnMock(t, hierarchy.Config{MaxPending: ownedLimit})
	for i := range x.funcs {
		x.funcs[i] = newFunc(t, x.w, func() { s.fires(i, x.m.Elapsed()) })
	}
	return x
}

func (x *realOwned) reset(i int, d time.Duration) bool { return x.funcs[i].Reset(d) }
func (x *realOwned) touch(i int) bool                  { return x.idles[i] != nil && x.idles[i].Touch() }
func (x *realOwned) add(d time.Duration)               { x.m.Add(d) }

func (x *realOwned) stop(i int) bool {
	if i < ownedFuncs {
		return x.funcs[i].Stop()
	}
	return x.idles[i] != nil && x.idles[i].Stop()
}

func (x *realOwned) renew(i int, d time.Duration) error {
	idle, err := x.w.NewIdle(d, func() { x.script.fires(i, x.m.Elapsed()) })
	if errors.Is(err, hierarchy.ErrArgument) {
		return hierarchy.ErrArgument
	}
	if err == nil {
		x.stop(i)
		x.idles[i] = idle
	}
	return err
}

func (x *realOwned) state() string {
	d, ok := x.m.Next()
	st := x.w.Stats()
	return fmt.Sprint(x.w.Len(), d, ok, st.Fired, st.Stopped, st.Moved, st.Scheduled)
}

// modelOwned is the reference: an unsorted list.
type modelOwned struct {
	script                *ownedScript
	now                   time.Duration
	orders                int
	timers                [ownedFuncs + ownedIdles]modelOwnedTimer
	fired, stopped, moved int
}

type modelOwnedTimer struct {
	pending     bool
	deadline, d time.Duration
	order       int
}

func (x *modelOwned) place(i int, d time.Duration) {
	x.orders++
	t := &x.timers[i]
	t.pending, t.deadline, t.order = true, x.now+max(0, d), x.orders
}

func (x *modelOwned) reset(i int, d time.Duration) bool {
	was := x.timers[i].pending
	x.place(i, d)
	x.moved += count(was)
	return was
}

func (x *modelOwned) touch(i int) bool {
	t := &x.timers[i]
	return t.pending && x.reset(i, t.d)
}

func (x *modelOwned) stop(i int) bool {
	was := x.timers[i].pending
	x.timers[i].pending = false
	x.stopped += count(was)
	return was
}

func (x *modelOwned) renew(i int, d time.Duration) error {
	switch {
	case d <= 0:
		return hierarchy.ErrArgument
	case x.len() >= ownedLimit:
		return hierarchy.ErrFull
	}
	x.stop(i)
	x.timers[i].d = d
	x.place(i, d)
	return nil
}

func (x *modelOwned) len() (n int) {
	for _, t := range x.timers {
		n += count(t.pending)
	}
	return n
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// next is the earliest timer, or -1.
func (x *modelOwned) next() int {
	best := -1
	for i, t := range x.timers {
		if b := &x.timers[max(best, 0)]; t.pending && (best < 0 || t.deadline < b.deadline || t.deadline == b.deadline && t.order < b.order) {
			best = i
		}
	}
	return best
}

func (x *modelOwned) add(d time.Duration) {
	target := x.now + d
	for i := x.next(); i >= 0 && x.timers[i].deadline <= target; i = x.next() {
		x.timers[i].pending = false
		x.now = max(x.now, x.timers[i].deadline)
		x.fired++
		x.script.fires(i, x.now)
	}
	x.now = target
}

func (x *modelOwned) state() string {
	next, ok := time.Duration(0), false
	if i := x.next(); i >= 0 {
		next, ok = max(0, x.timers[i].deadline-x.now), true
	}
	return fmt.Sprint(x.len(), next, ok, x.fired, x.stopped, x.moved, x.fired+x.stopped+x.len())
}

// FuncTimers and Idles on a mock do what an unsorted list does, also where callbacks set,
// touch and stop them.
func TestOwnedTimersAgainstAModel(t *testing.T) {
	for seed := range uint64(200) {
		reference, script := &ownedScript{seed: seed}, &ownedScript{seed: seed}
		reference.ownedWorld = &modelOwned{script: reference}
		script.ownedWorld = newRealOwned(t, script)
		require.Equal(t, reference.run(), script.run(), "seed %d", seed)
	}
}
