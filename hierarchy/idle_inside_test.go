package hierarchy

import (
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// Touch takes no lock.
func TestTouchTakesNoLock(t *testing.T) {
	c := &handclock.Clock{}
	w, err := New(Config{Clock: c, Shards: 1})
	require.NoError(t, err)
	defer w.Stop()
	idle, err := w.NewIdle(time.Second, func() {})
	require.NoError(t, err)
	c.Time.Store(5)
	s, touched := w.core.Shards[0], false
	c.OnSet = func() { // the aim's lock is held
		s.Mu.Lock()
		touched = idle.Touch()
		s.Mu.Unlock()
	}
	_, err = w.AfterFunc(time.Nanosecond, func() {})
	require.NoError(t, err)
	require.True(t, touched)
	require.EqualValues(t, 5+time.Second, idle.due.Load())
}

// A touch that has seen an Idle before it fired or was stopped does not revive it, and one
// that has read the clock before another does not take that one back.
func TestTouchThatIsOvertaken(t *testing.T) {
	c := &handclock.Clock{}
	w, err := New(Config{Clock: c, Shards: 1, Executor: Inline, Precision: 1})
	require.NoError(t, err)
	defer w.Stop()
	for _, end := range []func(*Idle){
		func(i *Idle) { require.True(t, i.Stop()) },
		func(*Idle) { c.Time.Add(10); c.Ring() },
	} {
		idle, err := w.NewIdle(10, func() {})
		require.NoError(t, err)
		was := idle.due.Load()
		end(idle)
		require.False(t, idle.put(was, was+5))
		require.EqualValues(t, ended, idle.due.Load())
		require.False(t, idle.Touch())
	}
	idle, err := w.NewIdle(10, func() {})
	require.NoError(t, err)
	was := idle.due.Load()
	require.True(t, idle.put(was, was-3), "another has read the clock later")
	require.Equal(t, was, idle.due.Load())
	require.True(t, idle.put(was, was+3))
	require.False(t, idle.put(was, was+5))
	require.Equal(t, was+3, idle.due.Load())
}

// Each Idle has a cache line of its own, so that touches of two of them do not meet.
func TestIdleFillsACacheLine(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("fields are smaller there, and padding is for 64 bits")
	}
	require.Zero(t, unsafe.Sizeof(Idle{})%64)
}

// Idles that are put off are not cascaded over finer slots.
func TestIdlesPutOffLeaveTheirSlot(t *testing.T) {
	c := &handclock.Clock{}
	w, err := New(Config{Clock: c, Shards: 1, Executor: Inline, Precision: 1})
	require.NoError(t, err)
	defer w.Stop()
	const n, d = 200, 1 << 40
	var idles []*Idle
	for range n {
		idle, err := w.NewIdle(d, func() {})
		require.NoError(t, err)
		idles = append(idles, idle)
		c.Time.Add(1)
	}
	for _, idle := range idles {
		require.True(t, idle.Touch())
	}
	c.Time.Store(d + n)
	c.Ring()
	require.NoError(t, w.core.Check())
	require.EqualValues(t, n, w.Stats().Moved)
	require.Zero(t, w.Stats().Cascaded)
	c.RequireAim(t, d+n)
}
