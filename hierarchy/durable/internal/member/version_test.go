package member

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Records of members that another version has written, or that can't be read, keep nobody from joining. Their
// members are members until they are silent. What such a record says and can be read counts.
func TestMembersOfOtherVersions(t *testing.T) {
	for record, want := range map[string]Peer{
		`{"version":2,"lease":"new","text":"t"}`:      {1, "t", false, false, false, nil},
		`{"version":2,"leaving":true,"unable":[2,1]}`: {1, "", true, false, false, []int{1, 2}},
		`{"version":1,"text":"a text"}`:               {1, "a text", false, false, false, nil},
		`{"version":1,"off":true}`:                    {1, "", false, false, true, nil},
		`{"version":1,"new":true}`:                    {1, "", false, true, false, nil},
		`{"lease":-1}`:                                {1, "", false, false, false, nil},
		`{`:                                           {1, "", false, false, false, nil},
		``:                                            {1, "", false, false, false, nil},
	} {
		t.Run(record, func(t *testing.T) {
			inWorld(t, func(w *world) {
				_, err := w.table.Open().Put(w.Context(), memberKey(1), []byte(record), 0)
				require.NoError(w, err)
				a := w.join(2)
				require.Equal(w, want, a.View().Members[0])
				w.at(2 * testLease)
				require.Equal(w, []ID{2}, a.members())
				a.claim(0)
			})
		})
	}
}

// What another version has written is left alone.
func TestOtherVersions(t *testing.T) {
	for name, record := range map[string][2]string{
		"newer claim":           {"claim.0", `{"version":2}`},
		"claim of other fields": {"claim.0", `{"version":2,"holder":[1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				_, err := w.table.Open().Put(w.Context(), record[0], []byte(record[1]), 0)
				require.NoError(w, err)
				p := w.process(2)
				_, err = Join(w.Context(), p.cfg)
				require.ErrorIs(w, err, errVersion)
				require.ErrorContains(w, err, record[0])
				require.Len(w, w.table.All(), 1)
				require.Zero(w, p.counts[0].Load()+p.counts[1].Load())
			})
		})
	}
}

// A newer program may join later. Its claims are left in peace. When it is gone, that can be seen.
func TestNewerMemberComesLater(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		other := w.table.Open()
		_, err := other.Put(w.Context(), memberKey(2), []byte(`{"version":9,"lease":"new","text":"t"}`), 0)
		require.NoError(w, err)
		_, err = other.Put(w.Context(), claimKey(0), []byte(`{"version":9,"holders":["?"]}`), 0)
		require.NoError(w, err)
		synctest.Wait()
		require.Equal(w, []ID{1, 2}, a.members())
		require.ErrorIs(w, a.Claim(w.Context(), 0), ErrNotFree)
		w.at(15 * time.Second)
		require.Equal(w, []ID{1}, a.members())
		require.False(w, a.View().Claims[0].Free)
	})
}
