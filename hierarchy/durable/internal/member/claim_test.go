package member

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

func TestClaimRace(t *testing.T) {
	inWorld(t, func(w *world) {
		all := []*process{w.join(1), w.join(2), w.join(3)}
		for partition := range 4 {
			var wg sync.WaitGroup
			won := make([]bool, len(all))
			for i, p := range all {
				wg.Go(func() {
					err := p.Claim(w.Context(), partition)
					won[i] = err == nil
					assert.True(w, err == nil || assert.ErrorIs(w, err, ErrNotFree))
				})
			}
			wg.Wait()
			synctest.Wait()
			owners := 0
			for i, p := range all {
				require.Equal(w, won[i], p.Owns(partition))
				if won[i] {
					owners++
				}
			}
			require.Equal(w, 1, owners)
		}
	})
}

func TestGive(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		<-b.Changed()
		require.NoError(w, a.Give(w.Context(), 0, 2))
		require.False(w, a.Owns(0))
		<-b.Changed()
		synctest.Wait()
		require.True(w, b.Owns(0))
		require.NoError(w, b.Claim(w.Context(), 0), "it is b's already")
		require.ErrorIs(w, a.Give(w.Context(), 0, 2), ErrNotMine)
		require.ErrorIs(w, a.Give(w.Context(), 1, 2), ErrNotMine)
		require.ErrorIs(w, b.Give(w.Context(), 0, 2), ErrNotMine, "to itself")
		require.NoError(w, b.Give(w.Context(), 0, 0))
		synctest.Wait()
		require.Equal(w, Claim{0, true}, a.View().Claims[0])
		a.claim(0)
	})
}

// From the beginning of Give, the other may own it.
func TestGiveIsNotMineWhileItIsSent(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		a.fail(only("put", memtable.Fault{Before: time.Second, After: time.Second}))
		go func() { assert.NoError(w, a.Give(w.Context(), 0, 2)) }()
		w.at(time.Second - 1)
		require.False(w, a.Owns(0))
		w.at(time.Second)
		require.True(w, b.Owns(0))
		require.False(w, a.Owns(0))
		w.at(3 * time.Second)
	})
}

// A Give in doubt that was not done can be taken back by Claim. What is late is refused.
func TestGiveInDoubt(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		a.fail(only("put", memtable.Fault{Before: 10 * time.Second}))
		require.Error(w, a.Give(w.soon(), 0, 2))
		require.False(w, a.Owns(0), "it is in doubt")
		require.Equal(w, Claim{1, false}, a.View().Claims[0])
		a.fail(nil)
		require.NoError(w, a.Claim(w.Context(), 0))
		require.True(w, a.Owns(0))
		w.at(11 * time.Second)
		require.True(w, a.Owns(0))
		require.False(w, b.Owns(0))
	})
}

// A Give in doubt that was done is found by the watch.
func TestGiveInDoubtThatWasCommitted(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		a.fail(func(memtable.Call) memtable.Fault { return memtable.Fault{Lose: true} })
		require.Error(w, a.Give(w.soon(), 0, 2))
		synctest.Wait()
		require.True(w, b.Owns(0))
		a.fail(nil)
		require.ErrorIs(w, a.Give(w.Context(), 0, 3), ErrNotMine)
		require.ErrorIs(w, a.Claim(w.Context(), 0), ErrNotFree)
		require.True(w, b.Owns(0))
	})
}

// An answer that is lost does not make a claim or a gift fail.
func TestAnswersToClaimsLost(t *testing.T) {
	for name, fault := range map[string]memtable.Fault{
		"lost": {Lose: true}, "refused though done": {Err: storage.ErrRefused}, "late": {Before: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a, b := w.join(1), w.join(2)
				a.fail(only("put", fault))
				a.claim(0)
				require.NoError(w, a.Give(w.Context(), 0, 2))
				synctest.Wait()
				require.True(w, b.Owns(0))
				a.fail(nil)
				time.Sleep(4 * time.Second)
			})
		})
	}
}

// A claim in doubt may become this member's later. View tells.
func TestClaimInDoubt(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.fail(only("put", memtable.Fault{Before: 5 * time.Second}))
		require.Error(w, a.Claim(w.soon(), 0))
		require.False(w, a.Owns(0))
		a.fail(nil)
		w.at(6 * time.Second)
		require.True(w, a.Owns(0))
		require.Equal(w, Claim{1, false}, a.View().Claims[0])
	})
}

// The deletion of a holder's record is forgotten after an hour: then nothing is left of it.
func TestHolderIsForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.claim(0)
		require.NoError(w, a.Resign(w.Context()))
		w.table.Expire(0)
		b := w.join(2)
		require.Equal(w, Claim{1, true}, b.View().Claims[0])
		b.claim(0)
	})
}

// A watch that is behind shows a claim before its holder's record. The holder lives.
func TestClaimIsSeenBeforeItsHolder(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.process(2)
		a.claim(0)
		w.at(5 * time.Second) // the record is newer than the claim
		records := w.table.All()
		require.Equal(w, []string{claimKey(0), memberKey(1)}, []string{records[0].Key, records[1].Key})
		watching := &oblivious{Store: b.store, key: memberKey(1), until: make(chan struct{})}
		b.cfg.Store = watching
		b.fail(only("delete", memtable.Fault{Before: time.Second}))
		b.begin()
		require.Equal(w, []ID{2}, b.members())
		require.Equal(w, Claim{1, false}, b.View().Claims[0])
		require.ErrorIs(w, b.Claim(w.Context(), 0), ErrNotFree)
		w.at(7 * time.Second)
		require.Equal(w, []ID{1, 2}, b.members(), "the refused deletion has found it")
		require.True(w, a.Owns(0))
		close(watching.until)
	})
}

// An own Resign, with a renewal whose answer was lost before it.
func TestResign(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		a.fail(func(memtable.Call) memtable.Fault { return memtable.Fault{Lose: true} })
		w.at(5 * time.Second)
		a.fail(nil)
		require.NoError(w, a.Resign(w.Context()))
		require.False(w, a.Holds())
		require.True(w, a.isLost())
		synctest.Wait()
		require.Equal(w, Claim{1, true}, b.View().Claims[0])
		b.claim(0)
		require.Equal(w, []ID{2}, b.members())
		a.Stop()
	})
}

func TestResignWithoutTheTable(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.store.Cut(true)
		require.Error(w, a.Resign(w.soon()))
		require.False(w, a.Holds())
	})
}

func TestLeave(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		w.at(time.Second)
		require.NoError(w, a.Leave(w.Context()))
		synctest.Wait()
		require.Zero(w, time.Since(w.begun)-time.Second, "it does not wait for the next renewal")
		require.Equal(w, []ID{2}, b.members())
		require.Equal(w, Peer{ID: 1, Leaving: true}, b.View().Members[0])
		w.at(30 * time.Second)
		require.True(w, a.Owns(0))
		require.Equal(w, Claim{1, false}, b.View().Claims[0])
		require.NoError(w, a.Leave(w.Context()))
	})
}

// Stop leaves the record: others wait until the lease has run out.
func TestStop(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0)
		w.at(time.Second)
		a.Stop()
		require.False(w, a.Holds())
		require.ErrorIs(w, a.Claim(w.Context(), 0), ErrLost)
		w.at(15*time.Second - 1)
		require.Equal(w, []ID{1, 2}, b.members())
		w.at(15 * time.Second)
		b.claim(0)
		a.Stop()
	})
}
