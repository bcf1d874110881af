package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// skew checks by how much a member finds a clock to be ahead that is ahead by off.
func (p *process) skew(off, least, most time.Duration) {
	p.w.Helper()
	l, m := p.Skew(func() time.Time { return time.Now().Add(off) })
	require.Equal(p.w, [2]time.Duration{least, most}, [2]time.Duration{l, m})
}

// The bounds are as far apart as a renewal took, hold at any time, and follow the clock at once.
func TestSkew(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.process(1)
		a.fail(only("put", memtable.Fault{Before: 300 * time.Millisecond, After: 100 * time.Millisecond}))
		a.begin()
		require.True(w, isClosed(a.Timed()))
		a.skew(0, -300*time.Millisecond, 100*time.Millisecond)
		a.skew(-time.Hour, -time.Hour-300*time.Millisecond, -time.Hour+100*time.Millisecond)
		w.at(2 * time.Second)
		a.skew(time.Hour, time.Hour-300*time.Millisecond, time.Hour+100*time.Millisecond)
	})
}

// What a renewal says that took long does not replace better bounds at once.
func TestSkewByASlowRenewal(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.skew(0, 0, 0)
		a.fail(only("put", memtable.Fault{Before: 1500 * time.Millisecond}))
		w.at(6 * time.Second) // one renewal: its bounds would be 1.5s apart, and these have aged by 0.5s
		a.skew(time.Hour, time.Hour, time.Hour)
		w.at(18 * time.Second) // the third
		a.skew(0, -1500*time.Millisecond, 0)
	})
}

// The others leave nothing to a member whose clock is off that it does not hold.
func TestOff(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0, 1)
		require.Empty(w, b.View().unable())
		a.SetOff(true)
		w.at(time.Second)
		require.Equal(w, map[ID][]int{1: {2, 3}}, b.View().unable())
		a.SetOff(false)
		w.at(2 * time.Second)
		require.Empty(w, b.View().unable())
	})
}
