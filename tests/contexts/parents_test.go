package contexts

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// endOfParent ends a parent, or does not.
var endOfParent = map[string]func(cancelParent context.CancelFunc){
	"cancelled":     func(cancelParent context.CancelFunc) { cancelParent() },
	"not cancelled": func(context.CancelFunc) {},
}

// A parent whose contexts have ended is collected, whether it was cancelled or not. A parent
// with many contexts had a notifier.
func TestParentsOfContextsAreCollected(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	for endName, end := range endOfParent {
		for done, call := range doneCalls {
			for _, n := range contextCounts {
				var collected atomic.Int32
				const parents = 50
				for range parents {
					parent, cancelParent := collectableParent(&collected)
					for i := range n {
						ctx, cancel := w.WithTimeout(parent, time.Second)
						call(ctx)
						if i%2 == 0 {
							cancel()
						}
					}
					m.Add(time.Second)
					end(cancelParent)
				}
				wheeltest.RequireCollected(t, &collected, parents, endName+", "+done)
			}
		}
	}
}

// collectableParent returns a context that package context can cancel, and counts it in
// collected when it has been collected.
func collectableParent(collected *atomic.Int32) (context.Context, context.CancelFunc) {
	value := &collectable{}
	runtime.AddCleanup(value, func(struct{}) { collected.Add(1) }, struct{}{})
	return context.WithCancel(context.WithValue(context.Background(), contextKey{}, value))
}

// So is a parent in a bubble.
func TestParentsOfContextsInABubbleAreCollected(t *testing.T) {
	for endName, end := range endOfParent {
		var collected atomic.Int32
		synctest.Test(t, func(t *testing.T) {
			w := wheeltest.OnSystem(t, hierarchy.Config{})
			parent, cancelParent := collectableParent(&collected)
			for range 10 {
				newWaitedFor(w, parent)()
			}
			end(cancelParent)
		})
		wheeltest.RequireCollected(t, &collected, 1, endName)
	}
}
