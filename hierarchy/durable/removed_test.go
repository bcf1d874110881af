package durable_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// What the Removes of a Batch have removed is what is in a map.
func TestRemoved(t *testing.T) {
	w := open(t, durable.Config[string, int]{Dir: t.TempDir(),
		Handle: func(context.Context, durable.Firing[string, int]) error { return nil }})
	requireRemoved(t, w, "")
}

func TestRemovedFromAnotherProcess(t *testing.T) {
	urls, _ := natsServers(t, 1)
	cfg := durable.Config[string, int]{Conn: connect(t, urls), Partitions: 1, Lease: time.Minute,
		Handle: func(context.Context, durable.Firing[string, int]) error { return nil }}
	a := open(t, cfg)
	cfg.Conn = connect(t, urls)
	b := open(t, cfg)
	requireRemoved(t, a, "a") // one of them asks the other
	requireRemoved(t, b, "b")
}

func requireRemoved(t *testing.T, w *durable.Keyed[string, int], prefix string) {
	random, model := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	var b durable.Batch[string, int]
	for range 50 {
		b.Reset()
		type outcome struct {
			value int
			ok    bool
		}
		var want []outcome
		for range 1 + random.IntN(6) {
			k, v := fmt.Sprint(prefix, random.IntN(8)), random.IntN(1000)
			was, there := model[k]
			switch random.IntN(3) {
			case 0:
				b.Move(k, time.Hour)
				want = append(want, outcome{})
			case 1:
				b.Set(k, v, time.Hour)
				model[k] = v
				want = append(want, outcome{})
			default:
				b.Remove(k)
				delete(model, k)
				want = append(want, outcome{was, there})
			}
		}
		require.NoError(t, w.Batch(t.Context(), &b))
		for i := range b.Len() {
			v, ok, err := b.Removed(i)
			require.NoError(t, err)
			require.Equal(t, want[i], outcome{v, ok})
		}
		_, ok, err := b.Removed(b.Len())
		require.NoError(t, err)
		require.False(t, ok)
	}
}

// A Batch that has failed has removed nothing, also if it had removed something before.
func TestRemovedByABatchThatFails(t *testing.T) {
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(),
		Handle: func(context.Context, firing) error { return nil }})
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Hour)))
	var b durable.Batch[string, string]
	b.Remove("k")
	_, ok, err := b.Removed(0)
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, w.Batch(t.Context(), &b))
	v, ok, err := b.Removed(0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "v", v)
	require.NoError(t, w.Close())
	require.ErrorIs(t, w.Batch(t.Context(), &b), durable.ErrClosed)
	_, ok, err = b.Removed(0)
	require.NoError(t, err)
	require.False(t, ok)
}

// A value that can't be decoded was removed all the same.
func TestRemovedThatCannotBeDecoded(t *testing.T) {
	dir := t.TempDir()
	handle := func(context.Context, firing) error { return nil }
	w := open(t, durable.Config[string, string]{Dir: dir, Handle: handle})
	require.NoError(t, errOf(w.Set(t.Context(), "k", "no number", time.Hour)))
	require.NoError(t, w.Close())
	numbers := open(t, durable.Config[string, int]{Dir: dir,
		Handle: func(context.Context, durable.Firing[string, int]) error { return nil }})
	var b durable.Batch[string, int]
	b.Remove("k")
	require.NoError(t, numbers.Batch(t.Context(), &b))
	_, ok, err := b.Removed(0)
	require.Error(t, err)
	require.True(t, ok)
	n, err := numbers.Len(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
}

// The answer of another process has room for some values. The others are removed, too, and Removed says so. In the
// owner's own process all are there.
func TestRemovedBeyondAnAnswer(t *testing.T) {
	urls, _ := natsServers(t, 1)
	cfg := durable.Config[string, string]{Conn: connect(t, urls), Partitions: 1, Lease: time.Minute,
		Handle: func(context.Context, firing) error { return nil }}
	a := open(t, cfg)
	cfg.Conn = connect(t, urls)
	all := []*strs{a, open(t, cfg)}
	const n, size = 6, 60_000
	for _, w := range all {
		var b durable.Batch[string, string]
		for i := range n {
			require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), strings.Repeat("v", size), time.Hour)))
			b.Remove(fmt.Sprint(i))
		}
		require.NoError(t, w.Batch(t.Context(), &b))
		known := 0
		for i := range n {
			v, ok, err := b.Removed(i)
			require.True(t, ok)
			if err != nil {
				requireOurs(t, err, durable.ErrTooLarge)
				require.Equal(t, 4, known) // the first ones have room
				require.Empty(t, v)
				continue
			}
			require.Len(t, v, size)
			known++
		}
		require.Contains(t, []int{4, n}, known)
		left, err := w.Len(t.Context())
		require.NoError(t, err)
		require.Zero(t, left)
	}
}
