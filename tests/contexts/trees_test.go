package contexts

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
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
	"github.com/epicycle-go/epicycle/tests/long"
)

// tree is a tree that is being made.
type tree struct {
	plan     []treeNode
	contexts []context.Context
	cancels  []func()
	early    []<-chan struct{} // nil if Done was not called
	called   []*atomic.Int32
}

func (t *tree) addNode(c contexts, i int) {
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
		ctx, cancel = caused, func() { setCause(fmt.Errorf("%w of node %d", errParent, i)) }
	case aStdTimeout:
		ctx, cancel = context.WithTimeout(parent, p.d)
	case aTimeout:
		ctx, cancel = c.withTimeout(parent, p.d)
	case aTimeoutCause:
		ctx, cancel = c.withTimeoutCause(parent, p.d, fmt.Errorf("%w of node %d", errLate, i))
	case aDeadline:
		ctx, cancel = c.withDeadline(parent, time.Now().Add(p.d))
	}
	t.record(ctx, cancel, called, p)
}

func (t *tree) record(ctx context.Context, cancel func(), called *atomic.Int32, p treeNode) {
	t.contexts, t.cancels, t.called = append(t.contexts, ctx), append(t.cancels, cancel), append(t.called, called)
	var done <-chan struct{}
	if p.early {
		done = ctx.Done()
	}
	t.early = append(t.early, done)
}

// report describes all nodes, or only those that are never late. Children come before their
// parents, because reading a parent ends it, and its children, if an ancestor has ended.
func (t *tree) report(start time.Time, all bool) (lines []string) {
	for i, ctx := range slices.Backward(t.contexts) {
		if !all && late(t.plan, i, false) {
			if t.plan[i].kind >= aTimeout && !late(t.plan, i, true) {
				lines = append(lines, fmt.Sprintf("node %d, late, %+v: Cause %v, Err %v", i, t.plan[i], causeUnasked(ctx), ctx.Err()))
			}
			continue
		}
		done := t.early[i]
		if done == nil {
			done = ctx.Done()
		}
		deadline, ok := ctx.Deadline()
		line := fmt.Sprintf("node %d, %+v: %s, Cause %v, Err %v, Deadline %v %v, Value %v", i, t.plan[i],
			doneState(done), causeUnasked(ctx), ctx.Err(), deadline.Sub(start), ok, ctx.Value(contextKey{}))
		if all {
			line += fmt.Sprintf(", called %d", t.called[i].Load())
		}
		lines = append(lines, line)
	}
	return lines
}

// take takes a step.
func (t *tree) take(c contexts, stop func(), s treeStep) {
	switch s.what {
	case addNode:
		t.addNode(c, s.node)
	case cancelNode:
		t.cancels[s.node]()
	case sleep:
		wheeltest.Pass(s.d)
	case stopWheel:
		stop()
	}
}

// runSteps takes the steps and returns all reports.
func runSteps(c contexts, stop func(), nodes []treeNode, steps []treeStep) (lines []string) {
	start := time.Now()
	t := &tree{plan: nodes}
	t.record(context.Background(), func() {}, &atomic.Int32{}, nodes[0])
	for i, s := range steps {
		t.take(c, stop, s)
		lines = append(lines, fmt.Sprintf("step %d: %+v", i, s))
		if s.compareNow {
			lines = append(lines, t.report(start, false)...)
		}
		synctest.Wait()
		if s.compareAll || i == len(steps)-1 {
			lines = append(lines, t.report(start, true)...)
		}
	}
	for _, cancel := range t.cancels {
		cancel()
	}
	return lines
}

// stoppableStdContexts returns contexts of package context, and a function that does to them
// what stopping the wheel does to contexts of a wheel.
func stoppableStdContexts() (c contexts, stop func()) {
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

// TestContextTrees compares random trees of contexts of a wheel and of package context. What
// must be right at once is compared right after a cancel. Cause is read before Err.
func TestContextTrees(t *testing.T) {
	trees := 50
	if long.On() {
		trees = 500
	}
	for seed := range uint64(trees) {
		nodes, steps := plan(rand.New(rand.NewPCG(seed, 1)), 60)
		synctest.Test(t, func(t *testing.T) {
			std, stop := stoppableStdContexts()
			defer stop()
			want := runSteps(std, stop, nodes, steps)
			w := wheeltest.OnSystem(t, hierarchy.Config{})
			got := runSteps(wheelContexts(w), w.Stop, nodes, steps)
			for i := range want {
				require.Equal(t, want[i], got[i], "seed %d", seed)
			}
			synctest.Wait()
			require.Zero(t, w.Len(), "seed %d", seed)
			wheeltest.RequireBalance(t, w)
		})
	}
}
