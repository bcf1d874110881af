package hierarchy_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// These tests check contexts right after the cancel of a parent has returned, without
// waiting. Each question is asked of a new context: a question may hide what the next one
// would have found.

// noDone is the result of doneOf for a Done that is open.
const noDone = "open"

func doneOf(done <-chan struct{}) string {
	select {
	case <-done:
		return "done"
	default:
		return noDone
	}
}

// questions are called before the parent is cancelled. What they return is called
// afterwards.
var questions = map[string]func(ctx context.Context) (answer func() any){
	"Cause": func(ctx context.Context) func() any { return func() any { return context.Cause(ctx) } },
	"Cause of Go 1.25": func(ctx context.Context) func() any {
		return func() any { return causeAskedFirst(ctx) }
	},
	"Err":  func(ctx context.Context) func() any { return func() any { return ctx.Err() } },
	"Done": func(ctx context.Context) func() any { return func() any { return doneOf(ctx.Done()) } },
	"Done before": func(ctx context.Context) func() any {
		done := ctx.Done()
		return func() any { return doneOf(done) }
	},
	"Done before, Cause": func(ctx context.Context) func() any {
		ctx.Done()
		return func() any { return context.Cause(ctx) }
	},
	"Done before, Cause of Go 1.25": func(ctx context.Context) func() any {
		ctx.Done()
		return func() any { return causeAskedFirst(ctx) }
	},
	"Cause of a value": func(ctx context.Context) func() any {
		value := context.WithValue(ctx, contextKey{}, 1)
		return func() any { return causeAskedFirst(value) }
	},
	"Done before of a value": func(ctx context.Context) func() any {
		done := context.WithValue(ctx, contextKey{}, 1).Done()
		return func() any { return doneOf(done) }
	},
	"a new child": func(ctx context.Context) func() any {
		return func() any {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			return context.Cause(child)
		}
	},
}

// causeAskedFirst is context.Cause of Go 1.25. That of Go 1.26 calls Err first, which may
// hide that the cause is not set.
func causeAskedFirst(ctx context.Context) error {
	if c, ok := ctx.Value(causeKey()).(context.Context); ok {
		if cause := context.Cause(c); cause != nil {
			return cause
		}
	}
	return ctx.Err()
}

// causeKey is the key with which context.Cause looks for the cause.
func causeKey() any {
	var spy keySpy
	_ = context.Cause(&spy)
	return spy.key
}

type keySpy struct {
	context.Context
	key any
}

func (*keySpy) Err() error { return context.Canceled }

func (s *keySpy) Value(key any) any {
	s.key = key
	return nil
}

// lineages make a context with c, somewhere below the cancel context top. It must be done
// when the cancel of top returns.
var lineages = map[string]func(c contexts, top context.Context) context.Context{
	"child": func(c contexts, top context.Context) context.Context { return made(c, top) },
	"child of a value": func(c contexts, top context.Context) context.Context {
		return made(c, context.WithValue(top, contextKey{}, 1))
	},
	"grandchild": func(c contexts, top context.Context) context.Context { return made(c, made(c, top)) },
	"great-grandchild": func(c contexts, top context.Context) context.Context {
		return made(c, made(c, made(c, top)))
	},
	"grandchild by a value": func(c contexts, top context.Context) context.Context {
		return made(c, context.WithValue(made(c, top), contextKey{}, 1))
	},
	"child of WithCancel": func(c contexts, top context.Context) context.Context {
		return made(c, uncancelled(context.WithCancel(top)))
	},
	"child of WithTimeout": func(c contexts, top context.Context) context.Context {
		return made(c, uncancelled(context.WithTimeout(top, time.Hour)))
	},
	"grandchild of WithCancel": func(c contexts, top context.Context) context.Context {
		return made(c, made(c, context.WithValue(uncancelled(context.WithCancel(top)), contextKey{}, 1)))
	},
	"child of an errgroup": func(c contexts, top context.Context) context.Context {
		_, parent := errgroup.WithContext(top)
		return made(c, parent)
	},
	"child of a type that embeds": func(c contexts, top context.Context) context.Context {
		return made(c, embedding{top})
	},
	"grandchild by a type that embeds": func(c contexts, top context.Context) context.Context {
		return made(c, embedding{made(c, embedding{top})})
	},
}

// embedding is a context type as frameworks define them.
type embedding struct{ context.Context }

// made is a context made with c below parent. Tests end it by its parent.
func made(c contexts, parent context.Context) context.Context {
	return uncancelled(c.withTimeoutCause(parent, time.Hour, errLate))
}

func uncancelled(ctx context.Context, _ context.CancelFunc) context.Context { return ctx }

func TestContextsAreRightWhenAParentsCancelReturns(t *testing.T) {
	for name, lineage := range lineages {
		for question, ask := range questions {
			for _, cause := range []error{errParent, nil} {
				t.Run(fmt.Sprintf("%s/%s/cause=%v", name, question, cause != nil), func(t *testing.T) {
					w, _ := onMock(t, hierarchy.Config{})
					for range 20 {
						want := answerAtOnce(theirContexts, lineage, ask, cause)
						require.NotEqual(t, noDone, want)
						require.Equal(t, want, answerAtOnce(ourContexts(w), lineage, ask, cause))
					}
				})
			}
		}
	}
}

func answerAtOnce(c contexts, lineage func(contexts, context.Context) context.Context,
	ask func(context.Context) func() any, cause error) any {
	top, cancel := context.WithCancelCause(context.Background())
	answer := ask(lineage(c, top))
	cancel(cause)
	return answer()
}

// A parent with many contexts has a hub.
func TestManyContextsAreRightWhenTheParentsCancelReturns(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	for question, ask := range questions {
		top, cancel := context.WithCancelCause(context.Background())
		var answers []func() any
		for range 100 {
			answers = append(answers, ask(made(ourContexts(w), top)))
		}
		cancel(errParent)
		want := answerAtOnce(theirContexts, lineages["child"], ask, errParent)
		for i, answer := range answers {
			require.Equal(t, want, answer(), "%s of context %d", question, i)
		}
	}
}

func TestContextOfAParentThatHasEnded(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	for question, ask := range questions {
		parent, cancel := context.WithDeadlineCause(context.Background(), time.Now().Add(-1), errParent)
		defer cancel()
		want := ask(made(theirContexts, parent))()
		require.Equal(t, want, ask(made(ourContexts(w), parent))(), question)
	}
}
