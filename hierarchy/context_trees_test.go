package hierarchy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// What a twig of a random tree of contexts may be.
const (
	aRoot = iota
	aWithoutCancel
	aValue
	anEmbedding
	anAfterFunc // called when its parent ends; what is below it is below its parent
	aCancel
	aCancelCause
	theirTimeout
	aTimeout // of the contexts that are compared, as all from here on
	aTimeoutCause
	aDeadline
	kinds
)

// twig is one context of a tree. Trees are plans: they are grown twice, with contexts of
// package context and with those of a wheel, and the two have to look the same.
type twig struct {
	kind, parent int
	d            time.Duration
	early        bool // Done is asked for at once
}

// canceller is the nearest twig above i that can end it, or 0.
func canceller(twigs []twig, i int) int {
	for i = twigs[i].parent; i > 0 && twigs[i].kind < aCancel; i = twigs[i].parent {
		if twigs[i].kind <= aWithoutCancel {
			return 0
		}
	}
	return i
}

// watched tells whether package context may cancel a parent of twig i, a context of a
// wheel.
func watched(twigs []twig, i int) bool {
	i = canceller(twigs, i)
	return i > 0 && (twigs[i].kind < aTimeout || watched(twigs, i))
}

// late tells whether twig i may follow a parent's cancel in a moment only: it is a child
// that package context has made below one of a wheel, or is below such a child. If
// it is asked for Err and Cause, it is made to follow, but for children of values.
func late(twigs []twig, i int, asked bool) bool {
	kind := twigs[i].kind
	parent := canceller(twigs, i)
	switch {
	case kind <= aWithoutCancel || parent == 0:
		return false
	case kind >= aCancel && kind < aTimeout && twigs[parent].kind >= aTimeout && watched(twigs, parent):
		return !asked || twigs[i].parent != parent || late(twigs, parent, asked)
	}
	return late(twigs, parent, asked)
}

// A deed is done to a tree.
const (
	grow      = iota // the next twig
	cancelOne        // or stop it, if it is an AfterFunc
	sleep
	stopWheel
)

type deed struct {
	what, twig int
	d          time.Duration
	look       bool // at once, at all that has to be right then
	wait       bool // and look at all
}

// plan is a tree and what happens to it.
func plan(r *rand.Rand, length int) (twigs []twig, deeds []deed) {
	const unit = 100 * time.Microsecond // of sleeps; deadlines are at times of their own in between
	twigs = []twig{{kind: aRoot}}
	for len(deeds) < length {
		d := deed{twig: r.IntN(len(twigs)), look: r.IntN(2) == 0, wait: r.IntN(8) == 0}
		switch n := r.IntN(100); {
		case n < 60:
			kind, parent := kindOf(r), parentOf(r, len(twigs))
			for range manyOf(r, kind) {
				deeds = append(deeds, deed{what: grow, twig: len(twigs)})
				delay := time.Duration(1+r.IntN(200))*unit + time.Duration(len(twigs))*time.Microsecond
				if r.IntN(12) == 0 {
					delay = -time.Duration(r.IntN(2))
				}
				twigs = append(twigs, twig{kind, parent, delay, r.IntN(2) == 0})
			}
			continue
		case n < 75:
			d.what = cancelOne
		case n < 99:
			d.what, d.d, d.look = sleep, time.Duration(1+r.IntN(5))*unit, false
		default:
			d.what = stopWheel
		}
		deeds = append(deeds, d)
	}
	return twigs, deeds
}

// kindOf is a random kind; contexts that detach what is below them are rare.
func kindOf(r *rand.Rand) int {
	if r.IntN(10) == 0 {
		return r.IntN(kinds)
	}
	return aValue + r.IntN(kinds-aValue)
}

// manyOf is how many twigs of that kind grow in a row: a parent of several has them told
// together.
func manyOf(r *rand.Rand, kind int) int {
	if kind >= aTimeout && r.IntN(8) == 0 {
		return 6
	}
	return 1
}

// parentOf is one of n twigs, mostly one of the last, so that trees are deep.
func parentOf(r *rand.Rand, n int) int {
	if r.IntN(3) == 0 {
		return r.IntN(n)
	}
	return max(0, n-1-r.IntN(4))
}

// tree is a tree that has been grown.
type tree struct {
	plan     []twig
	contexts []context.Context
	cancels  []func()
	early    []<-chan struct{} // nil: not asked for
	called   []*atomic.Int32
}

func (t *tree) grow(c contexts, i int) {
	p := t.plan[i]
	parent := t.contexts[p.parent]
	ctx, cancel := parent, context.CancelFunc(func() {})
	called := &atomic.Int32{}
	switch p.kind {
	case aRoot:
		ctx = context.Background()
	case aWithoutCancel:
		ctx = context.WithoutCancel(parent)
	case aValue:
		ctx = context.WithValue(parent, contextKey{}, i)
	case anEmbedding:
		ctx = embedding{parent}
	case anAfterFunc:
		stop := context.AfterFunc(parent, func() { called.Add(1) })
		cancel = func() {
			if stop() {
				called.Add(1000)
			}
		}
	case aCancel:
		ctx, cancel = context.WithCancel(parent)
	case aCancelCause:
		caused, setCause := context.WithCancelCause(parent)
		ctx, cancel = caused, func() { setCause(fmt.Errorf("%w of twig %d", errParent, i)) }
	case theirTimeout:
		ctx, cancel = context.WithTimeout(parent, p.d)
	case aTimeout:
		ctx, cancel = c.withTimeout(parent, p.d)
	case aTimeoutCause:
		ctx, cancel = c.withTimeoutCause(parent, p.d, fmt.Errorf("%w of twig %d", errLate, i))
	case aDeadline:
		ctx, cancel = c.withDeadline(parent, time.Now().Add(p.d))
	}
	t.note(ctx, cancel, called, p)
}

func (t *tree) note(ctx context.Context, cancel func(), called *atomic.Int32, p twig) {
	t.contexts, t.cancels, t.called = append(t.contexts, ctx), append(t.cancels, cancel), append(t.called, called)
	var done <-chan struct{}
	if p.early {
		done = ctx.Done()
	}
	t.early = append(t.early, done)
}

// report tells how all twigs are, or only those that are never late; the youngest
// first, as who asks a context makes it follow its parents.
func (t *tree) report(start time.Time, all bool) (lines []string) {
	for i, ctx := range slices.Backward(t.contexts) {
		if !all && late(t.plan, i, false) {
			if t.plan[i].kind >= aTimeout && !late(t.plan, i, true) {
				lines = append(lines, fmt.Sprintf("twig %d, late, %+v: Cause %v, Err %v", i, t.plan[i], causeAskedFirst(ctx), ctx.Err()))
			}
			continue
		}
		done := t.early[i]
		if done == nil {
			done = ctx.Done()
		}
		deadline, ok := ctx.Deadline()
		line := fmt.Sprintf("twig %d, %+v: %s, Cause %v, Err %v, Deadline %v %v, Value %v", i, t.plan[i],
			doneOf(done), causeAskedFirst(ctx), ctx.Err(), deadline.Sub(start), ok, ctx.Value(contextKey{}))
		if all {
			line += fmt.Sprintf(", called %d", t.called[i].Load())
		}
		lines = append(lines, line)
	}
	return lines
}

// storyOf is what is to be seen of a tree while deeds are done.
func storyOf(c contexts, stop func(), twigs []twig, deeds []deed) (lines []string) {
	start := time.Now()
	t := &tree{plan: twigs}
	t.note(context.Background(), func() {}, &atomic.Int32{}, twigs[0])
	for i, d := range deeds {
		switch d.what {
		case grow:
			t.grow(c, d.twig)
		case cancelOne:
			t.cancels[d.twig]()
		case sleep:
			pass(d.d)
		case stopWheel:
			stop()
		}
		lines = append(lines, fmt.Sprintf("deed %d: %+v", i, d))
		if d.look {
			lines = append(lines, t.report(start, false)...)
		}
		synctest.Wait()
		if d.wait || i == len(deeds)-1 {
			lines = append(lines, t.report(start, true)...)
		}
	}
	for _, cancel := range t.cancels {
		cancel()
	}
	return lines
}

// theirStoppable are contexts of package context that can be stopped as a wheel can:
// each has a parent that can be cancelled for that.
func theirStoppable() (c contexts, stop func()) {
	var stops []func()
	stopped := false
	under := func(parent context.Context) context.Context {
		ctx, cancel := context.WithCancelCause(parent)
		stops = append(stops, func() { cancel(hierarchy.ErrClosed) })
		if stopped {
			cancel(hierarchy.ErrClosed)
		}
		return ctx
	}
	c = contexts{
		func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			return context.WithTimeout(under(parent), d)
		},
		func(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
			return context.WithDeadline(under(parent), t)
		},
		func(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(under(parent), d, cause)
		},
	}
	return c, func() {
		stopped = true
		for _, stop := range stops {
			stop()
		}
	}
}

// TestContextTrees compares random trees of contexts with package context's: all of them
// when everything is at rest, and all that package context has not made below others at
// once. Cause is always asked for before Err, as Go 1.25 does.
func TestContextTrees(t *testing.T) {
	trees := 500
	if testing.Short() {
		trees = 50
	}
	for seed := range uint64(trees) {
		twigs, deeds := plan(rand.New(rand.NewPCG(seed, 1)), 60)
		synctest.Test(t, func(t *testing.T) {
			theirs, stop := theirStoppable()
			defer stop()
			want := storyOf(theirs, stop, twigs, deeds)
			w := onSystem(t, hierarchy.Config{})
			got := storyOf(ourContexts(w), w.Stop, twigs, deeds)
			for i := range want {
				require.Equal(t, want[i], got[i], "seed %d", seed)
			}
			synctest.Wait()
			require.Zero(t, w.Len(), "seed %d", seed)
			requireBalance(t, w)
		})
	}
}
