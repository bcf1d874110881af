//go:build lockorder

package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLockOrder(t *testing.T) {
	var outer, another, inner, leaf mutex
	outer.isOuter()
	another.isOuter()
	require.Panics(t, outer.assertHeld)
	require.Panics(t, outer.Unlock)
	outer.Lock()
	outer.assertHeld()
	require.Panics(t, another.Lock)
	inner.Lock()
	require.Panics(t, leaf.Lock)
	require.Panics(t, outer.Lock)
	outer.Unlock() // in any order
	require.Panics(t, outer.Lock, "under an inner lock")
	inner.Unlock()
	leaf.Lock()
	leaf.Unlock()
	require.Panics(t, leaf.assertHeld)
}
