package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

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
