package wheelctx

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The notifier of a parent that has ended is removed from its entry.
func TestContextNotifierOfAParentThatEndsMeanwhile(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		parent, cancel := context.WithCancel(context.Background())
		id := parentID(parent.Done())
		entry := &notifierEntry{}
		for range notifierAfter {
			require.Nil(t, entry.count(id, parent, nil))
		}
		cancel() // after inspectParent has found that the parent has not ended
		n := entry.count(id, parent, nil)
		require.NotNil(t, n)
		require.Nil(t, entry.listed.Load())
		synctest.Wait()
		require.False(t, n.join(&links{}))
	})
}

// Parents that take turns get no notifier: it would cost more than it saves.
func TestContextNotifierNeedsSeveralInARow(t *testing.T) {
	entry := &notifierEntry{}
	a, cancelA := context.WithCancel(context.Background())
	defer cancelA()
	b, cancelB := context.WithCancel(context.Background())
	defer cancelB()
	for range 2 * notifierAfter {
		require.Nil(t, entry.count(parentID(a.Done()), a, nil))
		require.Nil(t, entry.count(parentID(b.Done()), b, nil))
	}
	for range notifierAfter - 1 {
		require.Nil(t, entry.count(parentID(b.Done()), b, nil))
	}
	n := entry.count(parentID(b.Done()), b, nil)
	require.NotNil(t, n)
	require.Same(t, n, entry.find(parentID(b.Done())))
	require.Nil(t, entry.find(parentID(a.Done())))
	n.retire()
}

// cancelCtxKey is the key that package context uses.
func TestCancelCtxKey(t *testing.T) {
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), timeoutContextKey{}, 1))
	defer cancel()
	require.Equal(t, ctx, ctx.Value(cancelCtxKey))
	require.Nil(t, context.Background().Value(cancelCtxKey))
}

// Functions of package context are recognised, and no others.
func TestCancelsChild(t *testing.T) {
	r := &recorder{Context: context.Background()}
	child, cancel := context.WithCancel(r)
	defer cancel()
	require.True(t, cancelsChild(r.function))
	stop := context.AfterFunc(r, func() {})
	defer stop()
	require.True(t, cancelsChild(r.function))
	_, cancelTimeout := context.WithTimeout(r, time.Hour)
	defer cancelTimeout()
	require.True(t, cancelsChild(r.function))
	f := r.function
	for _, function := range []func(){func() {}, func() { f() }, cancel, func() { _ = child.Err() }} {
		require.False(t, cancelsChild(function))
	}
}
