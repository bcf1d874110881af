package member

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// Nothing goes on but a renewal each third of the lease.
func TestIdle(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0, 1)
		b.claim(2, 3)
		before := [4]int64{a.counts[0].Load(), a.counts[1].Load(), a.counts[2].Load(), a.counts[3].Load()}
		w.at(400 * time.Second)
		require.Equal(w, before[0]+100, a.counts[0].Load())
		for i := 1; i < 4; i++ {
			require.Equal(w, before[i], a.counts[i].Load())
		}
		require.True(w, a.Holds())
		require.Equal(w, []ID{1, 2}, a.members())
		require.Equal(w, []ID{1, 1, 2, 2}, b.View().Holders())
	})
}

func TestLeaseEndsWithoutTheTable(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.claim(0)
		w.at(4 * time.Second)
		a.store.Cut(true)
		a.holdsUntil(13 * time.Second)
		w.at(100 * time.Second)
		require.False(w, a.Owns(0))
		require.False(w, a.isLost())
		a.store.Cut(false)
		w.at(104 * time.Second)
		require.True(w, a.Owns(0), "nobody deleted it: it holds again")
	})
}

// The answer is slow: the lease counts from the sending.
func TestLeaseCountsFromTheSending(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.fail(func(c memtable.Call) memtable.Fault {
			if time.Since(w.begun) > 5*time.Second {
				return memtable.Fault{Drop: true}
			}
			return memtable.Fault{Before: 900 * time.Millisecond, After: 900 * time.Millisecond}
		})
		a.holdsUntil(13 * time.Second)
	})
}

// The answer is lost, and the copies that are sent later are refused: the lease counts from the first.
func TestLeaseCountsFromTheFirstCopy(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		puts, refusals := 0, new(atomic.Int64)
		a.fail(func(c memtable.Call) memtable.Fault {
			away := time.Since(w.begun) < 7500*time.Millisecond
			if c.Op != "put" {
				return memtable.Fault{Drop: refusals.Load() == 0}
			}
			puts++
			if puts > 1 && !away {
				refusals.Add(1) // of one copy: what follows does not arrive
			}
			return memtable.Fault{Lose: puts == 1, Drop: puts > 1 && (away || refusals.Load() > 1)}
		})
		w.at(12 * time.Second)
		require.NotZero(w, refusals.Load())
		a.holdsUntil(13 * time.Second)
	})
}

// The answer is lost, and read later: the lease counts from the sending of the first copy.
func TestLeaseCountsFromTheFirstCopyThatIsRead(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		puts := 0
		a.fail(func(c memtable.Call) memtable.Fault {
			if c.Op != "put" {
				return memtable.Fault{Drop: time.Since(w.begun) < 9500*time.Millisecond}
			}
			puts++
			return memtable.Fault{Lose: puts == 1, Drop: puts > 1}
		})
		// The first renewal, at 4s, was committed. Its copies don't arrive, nor does the next renewal.
		w.at(9 * time.Second)
		require.False(w, a.Holds(), "9s after Join")
		w.at(12 * time.Second)
		require.True(w, a.Holds())
		a.holdsUntil(13 * time.Second)
	})
}

func TestRefusedThoughCommitted(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.fail(func(c memtable.Call) memtable.Fault {
			if c.Op == "put" {
				return memtable.Fault{Err: storage.ErrRefused}
			}
			return memtable.Fault{Before: time.Second}
		})
		w.at(4*time.Second + 1)
		require.False(w, a.Holds(), "it stops at once")
		w.at(5 * time.Second)
		require.True(w, a.Holds())
		require.False(w, a.isLost())
	})
}

// Whoever finds its record deleted has lost its lease for good, by the watch or by a renewal.
func TestLost(t *testing.T) {
	for name, watch := range map[string]bool{"watch": true, "renewal": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.join(1)
				a.claim(0)
				a.store.Hold(!watch)
				other := w.table.Open()
				r, err := other.Get(w.Context(), memberKey(1))
				require.NoError(w, err)
				w.at(time.Second)
				require.NoError(w, other.Delete(w.Context(), memberKey(1), r.Revision))
				synctest.Wait()
				require.Equal(w, watch, a.isLost())
				w.at(4 * time.Second)
				require.True(w, a.isLost())
				require.False(w, a.Holds())
				require.Empty(w, a.members())
				require.ErrorIs(w, a.Claim(w.Context(), 1), ErrLost)
				require.ErrorIs(w, a.Give(w.Context(), 0, 0), ErrLost)
				require.ErrorIs(w, a.Leave(w.Context()), ErrLost)
				a.store.Hold(false)
			})
		})
	}
}

// A table that takes nothing for 6s, as while its servers elect a leader, does not let the default lease end, whenever
// that begins. What can be read meanwhile is what was.
func TestLeaseOutlastsAnElection(t *testing.T) {
	const election = 6 * time.Second
	for after := range 14 {
		inWorld(t, func(w *world) {
			p := w.process(1)
			p.cfg.Lease, p.cfg.Renew = 0, 0
			p.begin()
			begins := 20*time.Second + time.Duration(after)*250*time.Millisecond
			p.fail(func(c memtable.Call) memtable.Fault {
				if since := time.Since(w.begun); c.Op == "put" && since >= begins && since < begins+election {
					return memtable.Fault{Drop: true, Err: errors.New("no leader")}
				}
				return memtable.Fault{}
			})
			for at := begins; at < begins+2*DefaultLease; at += 10 * time.Millisecond {
				w.at(at)
				require.True(w, p.Holds(), "%v after the beginning", at-begins)
			}
		})
	}
}
