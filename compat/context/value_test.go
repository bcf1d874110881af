package context_test

import (
	standard "context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/context"
)

// waiting is how many goroutines package context has started for children, and have not ended.
func waiting() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "created by context.(*cancelCtx).propagateCancel")
}

// Children that package context makes below a value of this package need no goroutine, whatever is
// above. They end with the context, and with its error and its cause.
func TestChildrenBelowValuesNeedNoGoroutine(t *testing.T) {
	type key int
	for name, values := range map[string]func(parent context.Context) context.Context{
		"a value": func(parent context.Context) context.Context { return context.WithValue(parent, key(1), 1) },
		"two values": func(parent context.Context) context.Context {
			return context.WithValue(context.WithValue(parent, key(2), 2), key(1), 1)
		},
	} {
		for _, end := range []string{"deadline", "cancel", "parent"} {
			t.Run(name+", "+end, func(t *testing.T) {
				for waiting() > 0 { // those of earlier tests are about to end
					runtime.Gosched()
				}
				m, _ := onMock(t)
				top, cancelTop := standard.WithCancelCause(standard.Background())
				defer cancelTop(nil)
				ctx, cancel := context.WithTimeoutCause(top, time.Second, errLate)
				defer cancel()
				child, cancelChild := standard.WithCancel(values(ctx))
				defer cancelChild()
				called := make(chan bool)
				standard.AfterFunc(values(ctx), func() { close(called) })
				require.Equal(t, 1, child.Value(key(1)))
				require.NoError(t, child.Err())
				require.Zero(t, waiting())
				switch end {
				case "deadline":
					m.Add(time.Second)
				case "cancel":
					cancel()
				case "parent":
					cancelTop(errLate)
				}
				<-child.Done()
				<-called
				require.Equal(t, ctx.Err(), child.Err())
				require.Equal(t, standard.Cause(ctx), standard.Cause(child))
			})
		}
	}
}

// A value is otherwise package context's, also in what it prints and in how it panics.
func TestValueIsOtherwiseThatOfPackageContext(t *testing.T) {
	onMock(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	value, other := context.WithValue(ctx, &errLate, 1), standard.WithValue(ctx, &errLate, 1)
	require.Equal(t, fmt.Sprint(other), fmt.Sprint(value))
	require.IsType(t, other, context.WithValue(context.Background(), &errLate, 1))
	require.PanicsWithValue(t, "nil key", func() { context.WithValue(ctx, nil, 1) })
	require.PanicsWithValue(t, "key is not comparable", func() { context.WithValue(ctx, []int{}, 1) })
	var none context.Context
	require.PanicsWithValue(t, "cannot create context from nil parent", func() { context.WithValue(none, &errLate, 1) })
}
