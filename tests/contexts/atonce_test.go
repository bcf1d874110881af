package contexts

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// These tests check contexts right after the cancel of a parent has returned, without
// waiting. Each query gets a new context, because a query may hide an error from the next.

// notDone is the result of doneState for a Done that is open.
const notDone = "open"

func doneState(done <-chan struct{}) string {
	select {
	case <-done:
		return "done"
	default:
		return notDone
	}
}

// queries are called before the parent is cancelled. The functions that they return are
// called afterwards.
var queries = map[string]func(ctx context.Context) (answer func() any){
	"Cause": func(ctx context.Context) func() any { return func() any { return context.Cause(ctx) } },
	"Cause unasked": func(ctx context.Context) func() any {
		return func() any { return causeUnasked(ctx) }
	},
	"Err":  func(ctx context.Context) func() any { return func() any { return ctx.Err() } },
	"Done": func(ctx context.Context) func() any { return func() any { return doneState(ctx.Done()) } },
	"Done before": func(ctx context.Context) func() any {
		done := ctx.Done()
		return func() any { return doneState(done) }
	},
	"Done before, Cause": func(ctx context.Context) func() any {
		ctx.Done()
		return func() any { return context.Cause(ctx) }
	},
	"Done before, Cause unasked": func(ctx context.Context) func() any {
		ctx.Done()
		return func() any { return causeUnasked(ctx) }
	},
	"Cause of a value": func(ctx context.Context) func() any {
		value := context.WithValue(ctx, contextKey{}, 1)
		return func() any { return causeUnasked(value) }
	},
	"Done before of a value": func(ctx context.Context) func() any {
		done := context.WithValue(ctx, contextKey{}, 1).Done()
		return func() any { return doneState(done) }
	},
	"a new child": func(ctx context.Context) func() any {
		return func() any {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			return context.Cause(child)
		}
	},
}

// causeUnasked is what context.Cause finds in ctx if nobody has asked ctx for its error, as below a type that has an Err
// of its own: then nothing else makes ctx notice that its parent has ended.
func causeUnasked(ctx context.Context) error {
	if cause := context.Cause(unasked{ctx}); cause != errUnasked {
		return cause
	}
	return ctx.Err() // no cause is set
}

// unasked is a context type that has an error of its own.
type unasked struct{ context.Context }

var errUnasked = errors.New("an error of its own")

func (unasked) Err() error { return errUnasked }

// descendants make a context with c, somewhere below the cancel context top. It must be
// done when the cancel of top returns.
var descendants = map[string]func(c contexts, top context.Context) context.Context{
	"child": func(c contexts, top context.Context) context.Context { return newContext(c, top) },
	"child of a value": func(c contexts, top context.Context) context.Context {
		return newContext(c, context.WithValue(top, contextKey{}, 1))
	},
	"grandchild": func(c contexts, top context.Context) context.Context { return newContext(c, newContext(c, top)) },
	"great-grandchild": func(c contexts, top context.Context) context.Context {
		return newContext(c, newContext(c, newContext(c, top)))
	},
	"grandchild by a value": func(c contexts, top context.Context) context.Context {
		return newContext(c, context.WithValue(newContext(c, top), contextKey{}, 1))
	},
	"child of WithCancel": func(c contexts, top context.Context) context.Context {
		return newContext(c, dropCancel(context.WithCancel(top)))
	},
	"child of WithTimeout": func(c contexts, top context.Context) context.Context {
		return newContext(c, dropCancel(context.WithTimeout(top, time.Hour)))
	},
	"grandchild of WithCancel": func(c contexts, top context.Context) context.Context {
		return newContext(c, newContext(c, context.WithValue(dropCancel(context.WithCancel(top)), contextKey{}, 1)))
	},
	"child of an errgroup": func(c contexts, top context.Context) context.Context {
		_, parent := errgroup.WithContext(top)
		return newContext(c, parent)
	},
	"child of a type that embeds": func(c contexts, top context.Context) context.Context {
		return newContext(c, embedding{top})
	},
	"grandchild by a type that embeds": func(c contexts, top context.Context) context.Context {
		return newContext(c, embedding{newContext(c, embedding{top})})
	},
}

// embedding is a context type such as frameworks define.
type embedding struct{ context.Context }

// newContext makes a context with c below parent. Tests end it by its parent.
func newContext(c contexts, parent context.Context) context.Context {
	return dropCancel(c.withTimeoutCause(parent, time.Hour, errLate))
}

func dropCancel(ctx context.Context, _ context.CancelFunc) context.Context { return ctx }

func TestContextsAreRightWhenAParentsCancelReturns(t *testing.T) {
	for name, descendant := range descendants {
		for queryName, query := range queries {
			for _, cause := range []error{errParent, nil} {
				t.Run(fmt.Sprintf("%s/%s/cause=%v", name, queryName, cause != nil), func(t *testing.T) {
					w, _ := wheeltest.OnMock(t, hierarchy.Config{})
					for range 20 {
						want := answerAtOnce(stdContexts, descendant, query, cause)
						require.NotEqual(t, notDone, want)
						require.Equal(t, want, answerAtOnce(wheelContexts(w), descendant, query, cause))
					}
				})
			}
		}
	}
}

func answerAtOnce(c contexts, descendant func(contexts, context.Context) context.Context,
	query func(context.Context) func() any, cause error) any {
	top, cancel := context.WithCancelCause(context.Background())
	answer := query(descendant(c, top))
	cancel(cause)
	return answer()
}

// A parent with many contexts has a notifier.
func TestManyContextsAreRightWhenTheParentsCancelReturns(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	for queryName, query := range queries {
		top, cancel := context.WithCancelCause(context.Background())
		var answers []func() any
		for range 100 {
			answers = append(answers, query(newContext(wheelContexts(w), top)))
		}
		cancel(errParent)
		want := answerAtOnce(stdContexts, descendants["child"], query, errParent)
		for i, answer := range answers {
			require.Equal(t, want, answer(), "%s of context %d", queryName, i)
		}
	}
}

func TestContextOfAParentThatHasEnded(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	for queryName, query := range queries {
		parent, cancel := context.WithDeadlineCause(context.Background(), time.Now().Add(-1), errParent)
		defer cancel()
		want := query(newContext(stdContexts, parent))()
		require.Equal(t, want, query(newContext(wheelContexts(w), parent))(), queryName)
	}
}
