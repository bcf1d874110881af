package member

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// oblivious is a Store whose watches hold back one key, as if it came later.
type oblivious struct {
	*memtable.Store
	key   string
	until chan struct{}
}

func (h *oblivious) Watch(ctx context.Context) (<-chan storage.Change, error) {
	in, err := h.Store.Watch(ctx)
	out := make(chan storage.Change)
	go func() {
		defer close(out)
		for c := range in {
			if c.Key == h.key && !isClosed(h.until) {
				continue
			}
			select {
			case out <- c:
			case <-ctx.Done():
			}
		}
	}()
	return out, err
}

func TestJoin(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process(0x1f)
		p.cfg.Text = "host, process 7"
		p.begin()
		require.True(w, p.Holds())
		require.False(w, p.Owns(0))
		require.Equal(w, ID(0x1f), p.ID())
		require.Equal(w, &View{0x1f, []Peer{{0x1f, "host, process 7", false, false, false, nil}}, make4(Claim{0, true})}, p.View())
		all := w.table.All()
		require.Len(w, all, 1)
		require.Equal(w, "member.000000000000001f", all[0].Key)
		require.Equal(w, `{"version":1,"text":"host, process 7","lease":12000000000,"counter":1}`, string(all[0].Value))
		p.claim(3)
		all = w.table.All()
		require.Equal(w, "claim.3", all[1].Key)
		require.Equal(w, `{"version":1,"holder":"000000000000001f"}`, string(all[1].Value))
		peer, ok := p.View().Peer(0x1f)
		require.True(w, ok)
		require.Equal(w, "host, process 7", peer.Text)
		_, ok = p.View().Peer(2)
		require.False(w, ok)
	})
}

func make4(c Claim) []Claim { return []Claim{c, c, c, c} }

func TestJoinNeedsAConfig(t *testing.T) {
	store := new(memtable.Table).Open()
	for _, cfg := range []Config{{}, {Store: store}, {Partitions: 1}, {Store: store, Partitions: 1, Lease: -1},
		{Store: store, Partitions: 1, Lease: 25 * time.Hour}} {
		_, err := Join(t.Context(), cfg)
		require.ErrorContains(t, err, "member: Config")
	}
}

// Each Join has an ID of its own.
func TestRandomIDs(t *testing.T) {
	store := new(memtable.Table).Open()
	for range 2 {
		m, err := Join(t.Context(), Config{Store: store, Partitions: 1})
		require.NoError(t, err)
		defer m.Stop()
		id, ok := parseID(m.ID().String())
		require.True(t, ok)
		require.Equal(t, m.ID(), id)
	}
	for _, s := range []string{"", "1", "0000000000000000", "000000000000000A", "0x00000000000001", "-000000000000001"} {
		_, ok := parseID(s)
		require.False(t, ok, s)
	}
}

// Other keys of the table mean nothing here.
func TestOtherKeys(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, key := range []string{"about", "member.x", "claim.04", "claim.4", "claim.-1", "member.", "claim"} {
			_, err := w.table.Open().Put(w.Context(), key, []byte("?"), 0)
			require.NoError(w, err)
		}
		a := w.join(1)
		w.at(time.Minute)
		require.Equal(w, make4(Claim{0, true}), a.View().Claims)
		require.Len(w, a.View().Members, 1)
	})
}

// The answer to the first record is lost, or late.
func TestJoinInDoubt(t *testing.T) {
	for name, fault := range map[string]memtable.Fault{"lost": {Lose: true}, "late": {Before: 3 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.process(1)
				p.fail(only("put", fault))
				p.begin()
				require.True(w, p.Holds())
				p.fail(nil)
				require.Len(w, w.table.All(), 1)
				p.claim(0)
				time.Sleep(3 * time.Second)
			})
		})
	}
}

// The first record was committed, others deleted it, and the table has forgotten that: a later copy takes
// hold too. For the others that ID is dead, so it needs another one.
func TestJoinTooLate(t *testing.T) {
	inWorld(t, func(w *world) {
		a, p := w.join(1), w.process(2)
		p.fail(only("put", memtable.Fault{Lose: true}))
		time.AfterFunc(time.Millisecond, func() { p.store.Cut(true) })
		time.AfterFunc(30*time.Second, func() {
			w.table.Expire(0)
			p.fail(nil)
			p.store.Cut(false)
		})
		p.begin()
		require.Contains(w, a.members(), p.ID())
		require.NotEqual(w, ID(2), p.ID())
		require.True(w, p.Holds())
	})
}

func TestJoinWithoutTheTable(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process(1)
		p.store.Cut(true)
		_, err := Join(w.soon(), p.cfg)
		require.ErrorIs(w, err, context.DeadlineExceeded)
		p.store.Cut(false)
		p.fail(only("put", memtable.Fault{Before: 10 * time.Second}))
		_, err = Join(w.soon(), p.cfg)
		require.ErrorIs(w, err, context.DeadlineExceeded)
		b := w.join(2)
		w.at(12 * time.Second)
		require.Equal(w, []ID{1, 2}, b.members(), "it comes late")
		w.at(27 * time.Second)
		require.Equal(w, []ID{2}, b.members())
	})
}

// The first watch never says that this was all.
func TestJoinWithASilentWatch(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process(1)
		p.store.Hold(true)
		time.AfterFunc(time.Second, func() {
			p.store.Mute()
			p.store.Hold(false)
		})
		p.begin()
		require.True(w, p.Holds())
		require.Less(w, time.Since(w.begun), 2*testLease)
	})
}
