package callbacks

import (
	"context"
	"fmt"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// labelled reports whether any goroutine that has begun has that profiler label. One that has
// not begun has the label of who started it, which it may still remove.
func labelled(t *testing.T, label string) bool {
	var all strings.Builder
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&all, 1))
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, label) && begun.MatchString(stack) {
			return true
		}
	}
	return false
}

// begun matches the stack of a goroutine that is not at the first instruction of its function.
var begun = regexp.MustCompile(`(?m)^#\t0x\w+\t.*\+0x0*[1-9a-f]`)

// selfLabelled reports whether a goroutine that calls it has a profiler label.
func selfLabelled(t *testing.T) bool {
	var all strings.Builder
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&all, 1))
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, "selfLabelled") && strings.Contains(stack, "# labels: ") {
			return true
		}
	}
	return false
}

// Callbacks run without profiler labels, as those of time.AfterFunc do: neither their goroutine nor
// one that waits for others has those of who set the first timer.
func TestCallbacksHaveNobodysLabels(t *testing.T) {
	executors := map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Pool": hierarchy.Pool(2), "Inline": hierarchy.Inline,
		"an own one": func(task func()) { hierarchy.Go(task) },
	}
	for name, e := range executors {
		for _, c := range []clock.Clock{clock.System(), clock.Precise(), clock.Spinning(time.Microsecond)} {
			for _, d := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
				t.Run(fmt.Sprint(name, "/", c, "/", d), func(t *testing.T) {
					label := "stranger in " + t.Name()
					w := wheeltest.New(t, hierarchy.Config{Clock: c, Executor: e})
					for range 3 {
						set, found := make(chan struct{}), make(chan bool, 1)
						pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("of", label)))
						require.True(t, labelled(t, label))
						wheeltest.Set(t, w, d, func() {
							<-set
							found <- labelled(t, label)
						})
						pprof.SetGoroutineLabels(context.Background())
						close(set)
						require.False(t, <-found)
					}
				})
			}
		}
	}
}
