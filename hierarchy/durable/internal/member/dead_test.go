package member

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// The others wait for one lease and a quarter of the other's lease, then delete it.
func TestDeadMember(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process(1)
		p.cfg.Lease = 2 * testLease // renewed at 0s, 8s
		p.begin()
		p.claim(0, 1)
		b, c := w.join(2), w.join(3)
		w.at(9 * time.Second)
		p.store.Cut(true)
		w.at(38*time.Second - 1)
		require.Equal(w, []ID{1, 2, 3}, b.members())
		require.ErrorIs(w, b.Claim(w.soon(), 0), ErrNotFree)
		require.False(w, p.Holds())
		w.at(38 * time.Second)
		for _, m := range []*process{b, c} {
			require.Equal(w, []ID{2, 3}, m.members())
			require.Equal(w, []Claim{{1, true}, {1, true}, {0, true}, {0, true}}, m.View().Claims)
		}
		b.claim(0)
		require.ErrorIs(w, c.Claim(w.soon(), 0), ErrNotFree)
		p.store.Cut(false)
		w.at(46 * time.Second)
		require.True(w, p.isLost())
	})
}

// A process that is stopped has no lease when it goes on, whatever answers come then.
func TestStoppedProcess(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		a.fail(only("put", memtable.Fault{After: time.Second}))
		w.at(4500 * time.Millisecond)
		a.store.Pause(true) // between the renewal and its answer
		w.at(9 * time.Second)
		require.False(w, a.Holds())
		w.at(19*time.Second - 1)
		require.Equal(w, []ID{1, 2}, b.members())
		w.at(19 * time.Second)
		b.claim(0)
		w.at(40 * time.Second)
		a.store.Pause(false)
		synctest.Wait()
		require.False(w, a.Holds())
		w.at(42 * time.Second)
		require.True(w, a.isLost())
	})
}

// Whoever could not renew its own lease has no reason to think that others are dead.
func TestWaitBeginsAnewAfterAnInterruption(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		w.at(time.Second)
		a.store.Cut(true)
		w.at(5 * time.Second)
		b.store.Cut(true)
		w.at(14 * time.Second)
		b.store.Cut(false)
		w.at(16 * time.Second)
		b.mu.Lock()
		run := b.lease.run
		b.mu.Unlock()
		require.Greater(w, run, 14*time.Second)
		w.at(run + 15*time.Second - 1)
		require.Equal(w, []ID{1, 2}, b.members())
		w.at(run + 15*time.Second)
		require.Equal(w, []ID{2}, b.members())
	})
}

// When the table was away for long, nobody deletes anybody.
func TestTableAway(t *testing.T) {
	inWorld(t, func(w *world) {
		all := []*process{w.join(1), w.join(2), w.join(3)}
		for i, p := range all {
			p.claim(i)
		}
		cut := func(on bool) {
			for _, p := range all {
				p.store.Cut(on)
			}
		}
		w.at(5 * time.Second)
		cut(true)
		w.at(200 * time.Second)
		cut(false)
		w.at(220 * time.Second)
		for i, p := range all {
			require.True(w, p.Owns(i))
			require.Equal(w, []ID{1, 2, 3}, p.members())
			require.Zero(w, p.counts[1].Load())
		}
	})
}

// A member that sees nothing of another, which lives, does not delete it.
func TestBlindMember(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		b.store.Hold(true)
		w.at(100 * time.Second)
		require.True(w, a.Owns(0))
		require.NotZero(w, b.counts[1].Load(), "it tries")
		require.Equal(w, []ID{1, 2}, b.members())
		b.store.Hold(false)
	})
}

func TestSilentWatch(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		w.at(time.Second)
		a.store.Mute()
		b := w.join(2)
		w.at(8*time.Second - 1)
		require.Equal(w, []ID{1}, a.members())
		w.at(8*time.Second + testLease/100)
		require.Equal(w, []ID{1, 2}, a.members())
		b.claim(1)
		require.Equal(w, ID(2), a.View().Claims[1].Holder)
	})
}

// A watch that is begun anew, and is silent too, is begun anew.
func TestSilentWatches(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.fail(only("watch", memtable.Fault{Drop: true}))
		a.store.Mute()
		w.join(2)
		w.at(60 * time.Second)
		require.Greater(w, a.counts[3].Load(), int64(3))
		require.True(w, a.Holds())
		a.fail(nil)
		w.at(80 * time.Second)
		require.Equal(w, []ID{1, 2}, a.members())
	})
}

// The lease of a member whose answers to renewals are all lost goes on.
func TestAllAnswersLost(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.fail(only("put", memtable.Fault{Err: context.DeadlineExceeded}))
		for range 1000 {
			time.Sleep(100 * time.Millisecond)
			require.True(w, a.Holds())
		}
	})
}

func TestHoldsAllocatesNothing(t *testing.T) {
	m, err := Join(t.Context(), Config{Store: new(memtable.Table).Open(), Partitions: 1})
	require.NoError(t, err)
	defer m.Stop()
	require.NoError(t, m.Claim(t.Context(), 0))
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if !m.Holds() || !m.Owns(0) {
			t.Error("it holds")
		}
	}))
}

func BenchmarkHolds(b *testing.B) {
	m, err := Join(b.Context(), Config{Store: new(memtable.Table).Open(), Partitions: 1})
	require.NoError(b, err)
	defer m.Stop()
	b.ReportAllocs()
	for b.Loop() {
		m.Holds()
	}
}

func TestBootTimeGoesOn(t *testing.T) {
	before := bootTime()
	require.GreaterOrEqual(t, before, time.Duration(0))
	time.Sleep(time.Millisecond)
	require.GreaterOrEqual(t, bootTime()-before, time.Millisecond)
}

// Those that have died are forgotten after an hour, as long as no claim is theirs. A process that lives for years
// sees many come and go.
func TestTheDeadAreForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		other := w.table.Open()
		for i := range 600 {
			id := ID(i + 2)
			revision, err := other.Put(w.Context(), memberKey(id), encode(memberRecord{Version: version, Lease: testLease}), 0)
			require.NoError(w, err)
			if i == 0 {
				_, err = other.Put(w.Context(), claimKey(0), encodeClaim(id), 0)
				require.NoError(w, err)
			}
			require.NoError(w, other.Delete(w.Context(), memberKey(id), revision))
			w.at(time.Duration(i) * time.Minute)
		}
		a.mu.Lock()
		dead, revisions := len(a.known.dead), len(a.known.revisions)
		a.mu.Unlock()
		require.Less(w, dead, 70)
		require.Less(w, revisions, 80)
		require.Equal(w, Claim{2, true}, a.View().Claims[0])
		require.Equal(w, []ID{1}, a.members())
	})
}
