package contexts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// These tests are about contexts that nobody looks at while much happens: the deadline passes, an ancestor ends, the
// wheel is stopped. Then the first answer must be right.

// unreadEvents happen one after another while nobody looks at the contexts.
var unreadEvents = map[string]func(p *unreadPair){
	"cancel":                func(p *unreadPair) { p.cancel() },
	"cancel of the parent":  func(p *unreadPair) { p.cancelParent() },
	"cancel at the top":     func(p *unreadPair) { p.cancelTop(errParent) },
	"Stop":                  func(p *unreadPair) { p.stop() },
	"half of the time":      func(*unreadPair) { wheeltest.Pass(500 * time.Millisecond) },
	"more than all of it":   func(*unreadPair) { wheeltest.Pass(1500 * time.Millisecond) },
	"Done of the parent":    func(p *unreadPair) { p.parent.Done() },
	"a child of the parent": func(p *unreadPair) { dropCancel(context.WithCancel(p.parent)) },
}

// unreadPair is a context below another, below one that package context can cancel. Each has a cause of its own.
type unreadPair struct {
	ctx, parent          context.Context
	cancel, cancelParent context.CancelFunc
	cancelTop            context.CancelCauseFunc
	stop                 func()
}

func newUnreadPair(c contexts, stop func(), ofParent time.Duration, top, value bool) *unreadPair {
	p := &unreadPair{stop: stop, cancelTop: func(error) {}}
	above := context.Background()
	if top {
		above, p.cancelTop = context.WithCancelCause(above)
	}
	p.parent, p.cancelParent = c.withTimeoutCause(above, ofParent, errParent)
	above = p.parent
	if value {
		above = context.WithValue(above, contextKey{}, 1)
	}
	p.ctx, p.cancel = c.withTimeoutCause(above, time.Second, errLate)
	return p
}

// answers are what may be asked first. Each gets new contexts, since a call may end them.
var answers = map[string]func(p *unreadPair) any{
	"Err":           func(p *unreadPair) any { return p.ctx.Err() },
	"Cause":         func(p *unreadPair) any { return context.Cause(p.ctx) },
	"Cause unasked": func(p *unreadPair) any { return causeUnasked(p.ctx) },
	"Done":          func(p *unreadPair) any { return doneState(p.ctx.Done()) },
	"parent":        func(p *unreadPair) any { return [2]error{p.parent.Err(), context.Cause(p.parent)} },
	"parent first":  func(p *unreadPair) any { return [3]error{p.parent.Err(), p.ctx.Err(), context.Cause(p.ctx)} },
	"child": func(p *unreadPair) any {
		child, cancel := context.WithCancel(context.WithValue(p.ctx, contextKey{}, 1))
		defer cancel()
		synctest.Wait()
		return [2]error{child.Err(), context.Cause(child)}
	},
	"AfterFunc": func(p *unreadPair) any {
		called := false
		context.AfterFunc(p.ctx, func() { called = true })
		synctest.Wait()
		return called
	},
	"then cancelled": func(p *unreadPair) any {
		p.cancel()
		return [2]error{p.ctx.Err(), context.Cause(p.ctx)}
	},
}

// Whatever happened while nobody looked, a context shows what package context would show.
func TestUnreadContexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var names []string
	for name := range unreadEvents {
		names = append(names, name)
	}
	for range 3000 {
		var events []string
		for range 1 + r.IntN(4) {
			events = append(events, names[r.IntN(len(names))])
		}
		ofParent := time.Duration(1+r.IntN(8)) * 300 * time.Millisecond
		top, value := r.IntN(2) == 0, r.IntN(3) == 0
		synctest.Test(t, func(t *testing.T) {
			for name, answer := range answers {
				ask := func(c contexts, stop func()) any {
					p := newUnreadPair(c, stop, ofParent, top, value)
					defer p.cancel()
					defer p.cancelParent()
					defer p.cancelTop(nil)
					for _, event := range events {
						unreadEvents[event](p)
						synctest.Wait()
					}
					return answer(p)
				}
				std, stop := stoppableStdContexts()
				w := wheeltest.OnSystem(t, hierarchy.Config{})
				require.Equal(t, ask(std, stop), ask(wheelContexts(w), w.Stop), "%s after %q, parent %v, top %v, value %v", name, events, ofParent, top, value)
				stop()
				require.Zero(t, w.Len())
				wheeltest.RequireBalance(t, w)
			}
		})
	}
}

// The contexts of a tree are read by Err and Cause only, some of them after each step.
func TestUnreadContextTrees(t *testing.T) {
	for seed := range uint64(500) {
		nodes, steps := plan(rand.New(rand.NewPCG(seed, 3)), 60)
		for i := range nodes {
			nodes[i].early = nodes[i].early && i%5 == 0
		}
		synctest.Test(t, func(t *testing.T) {
			std, stop := stoppableStdContexts()
			defer stop()
			want := readSome(std, stop, nodes, steps, seed)
			w := wheeltest.OnSystem(t, hierarchy.Config{})
			got := readSome(wheelContexts(w), w.Stop, nodes, steps, seed)
			for i := range want {
				require.Equal(t, want[i], got[i], "seed %d", seed)
			}
			synctest.Wait()
			require.Zero(t, w.Len(), "seed %d", seed)
			wheeltest.RequireBalance(t, w)
		})
	}
}

// readSome takes the steps, and reads some of the contexts after some of them.
func readSome(c contexts, stop func(), nodes []treeNode, steps []treeStep, seed uint64) (lines []string) {
	r := rand.New(rand.NewPCG(seed, 4))
	t := &tree{plan: nodes}
	t.record(context.Background(), func() {}, &atomic.Int32{}, nodes[0])
	for i, s := range steps {
		t.take(c, stop, s)
		synctest.Wait()
		for n, ctx := range t.contexts {
			if r.IntN(12) == 0 || i == len(steps)-1 {
				lines = append(lines, fmt.Sprintf("step %d, node %d, %+v: Err %v, Cause %v", i, n, nodes[n], ctx.Err(), context.Cause(ctx)))
			}
		}
	}
	for _, cancel := range t.cancels {
		cancel()
	}
	return lines
}
