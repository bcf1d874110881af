package hierarchy

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// The hub of a parent that has ended is removed from its slot.
func TestHubOfAParentThatEndsMeanwhile(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		parent, cancel := context.WithCancel(context.Background())
		id := parentID(parent.Done())
		slot := &hubSlot{}
		for range hubAfter {
			require.Nil(t, slot.meet(id, parent, nil))
		}
		cancel() // after look has found that the parent has not ended
		h := slot.meet(id, parent, nil)
		require.NotNil(t, h)
		require.Nil(t, slot.hub.Load())
		synctest.Wait()
		require.False(t, (&timeoutContext{}).join(h))
	})
}

// Parents in turn get no hub: it would cost more than it saves.
func TestHubNeedsSeveralInARow(t *testing.T) {
	slot := &hubSlot{}
	a, cancelA := context.WithCancel(context.Background())
	defer cancelA()
	b, cancelB := context.WithCancel(context.Background())
	defer cancelB()
	for range 2 * hubAfter {
		require.Nil(t, slot.meet(parentID(a.Done()), a, nil))
		require.Nil(t, slot.meet(parentID(b.Done()), b, nil))
	}
	for range hubAfter - 1 {
		require.Nil(t, slot.meet(parentID(b.Done()), b, nil))
	}
	h := slot.meet(parentID(b.Done()), b, nil)
	require.NotNil(t, h)
	require.Same(t, h, slot.find(b.Done()))
	require.Nil(t, slot.find(a.Done()))
	h.retire()
}

// cancelCtxKey is the key that package context uses.
func TestCancelCtxKey(t *testing.T) {
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), kinKey{}, 1))
	defer cancel()
	require.Equal(t, ctx, ctx.Value(cancelCtxKey))
	require.Nil(t, context.Background().Value(cancelCtxKey))
}
