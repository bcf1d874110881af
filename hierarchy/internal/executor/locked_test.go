package executor

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Callbacks share goroutines on each version of Go that is tested. A goroutine for each costs more than all else that a
// wheel does for it, and nothing but this test would show that a new version of Go starts one.
func TestGoroutinesAreShared(t *testing.T) {
	require.False(t, lockedOSThread(), `Callbacks do not share goroutines on %s: locked_gc.go is not for it.
Raise the version there to the next one. If this package builds then, and its tests and those of ./tests/callbacks pass,
that was all. If not, package runtime has changed, and lockedOSThread needs another way to know.`, runtime.Version())
	runtime.LockOSThread()
	require.True(t, lockedOSThread())
	runtime.UnlockOSThread()
	require.False(t, lockedOSThread())
}

// eachWay calls test where goroutines are shared, and as where nothing tells whether one is locked to its thread.
func eachWay(t *testing.T, test func(t *testing.T)) {
	known := lockedOSThread
	defer func() { lockedOSThread = known }()
	t.Run("shared", test)
	lockedOSThread = mayBeLocked
	t.Run("alone", test)
}

// spoiler is a Wheel whose callbacks leave their goroutines locked, if they find them unlocked.
type spoiler struct {
	record
	isLocked func() bool
}

func (s *spoiler) Call(v int) {
	if !s.isLocked() {
		s.note(func() { s.called = append(s.called, v) })
	}
	runtime.LockOSThread()
}

// No callback gets a goroutine that another has left locked to its thread.
func TestLockedGoroutinesAreNotShared(t *testing.T) {
	isLocked := lockedOSThread
	eachWay(t, func(t *testing.T) {
		for name, run := range runs[*spoiler]() {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &spoiler{isLocked: isLocked}
					run(s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
					synctest.Wait()
					require.Len(t, s.called, 11)
					require.EqualValues(t, 11, s.ended)
				})
			})
		}
	})
}
