package lane

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// number returns an ID.
func number(n int) (id durable.ID) {
	text := fmt.Sprintf("%032x", n)
	if err := id.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return id
}

// check fails the test unless each order has the timers whose keys have its prefix, and not many others.
func (w *waiting) check(t *testing.T) {
	orders := map[string]*order{"": &w.all}
	maps.Copy(orders, w.some)
	for prefix, o := range orders {
		gone := 0
		keys := make(map[string]bool)
		for i, it := range o.items {
			require.False(t, i > 0 && o.items.Less(i, (i-1)/2), "it is a heap")
			if it.gone {
				gone++
				continue
			}
			require.True(t, strings.HasPrefix(it.Key, prefix))
			require.Same(t, w.keys[it.Key], it)
			keys[it.Key] = true
		}
		require.Equal(t, gone, o.gone)
		require.LessOrEqual(t, gone, len(o.items)/2+least)
		for key := range w.keys {
			require.Equal(t, strings.HasPrefix(key, prefix), keys[key])
		}
	}
}

// What waits comes in the order of a sorted slice in which each key is once.
func TestWaitingLikeASlice(t *testing.T) {
	type entry struct {
		Due
		seq int
	}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		key := func() string { return fmt.Sprint(random.IntN(4), random.IntN(4), random.IntN(4))[:1+random.IntN(5)] }
		prefix := func() string { return key()[:random.IntN(2)] }
		var w waiting
		var model []entry
		for seq := range 300 {
			switch k := key(); random.IntN(4) {
			case 0, 1:
				d := Due{Key: k, ID: number(random.IntN(2)), At: time.Unix(int64(random.IntN(20)), 0)}
				w.push(d, uint64(seq))
				model = slices.DeleteFunc(model, func(e entry) bool { return e.Key == d.Key })
				model = append(model, entry{d, seq})
				slices.SortStableFunc(model, func(a, b entry) int { return a.At.Compare(b.At) })
			case 2:
				id := number(random.IntN(2))
				w.remove(k, id)
				model = slices.DeleteFunc(model, func(e entry) bool { return e.Key == k && e.ID == id })
			default:
				p := prefix()
				at := slices.IndexFunc(model, func(e entry) bool { return strings.HasPrefix(e.Key, p) })
				require.Equal(t, at >= 0, w.has(p))
				d, ok := w.pop(p)
				require.Equal(t, at >= 0, ok)
				if ok {
					require.Equal(t, model[at].Due, d)
					model = slices.Delete(model, at, at+1)
				}
			}
			k := key()
			require.Equal(t, slices.ContainsFunc(model, func(e entry) bool { return e.Key == k }), w.hasKey(k))
			require.Equal(t, len(model), w.len())
			w.check(t)
		}
	}
}

// Timers that have left take no memory, and nor do prefixes that nobody uses any more.
func TestWaitingForgets(t *testing.T) {
	var w waiting
	w.push(due("some-", 0), 0)
	require.True(t, w.has("some-"))
	for i := range 10000 {
		key := fmt.Sprint("some-", i)
		w.push(due(key, i), uint64(i))
		w.remove(key, durable.ID{})
		require.LessOrEqual(t, len(w.all.items), 2*(least+2))
	}
	require.Equal(t, 1, w.len())
	require.Empty(t, w.some)
}

func BenchmarkWaiting(b *testing.B) {
	key := func(i int) string {
		return string(binary.BigEndian.AppendUint64([]byte("other-"), uint64(i)*0x9e3779b97f4a7c15))
	}
	for _, n := range []int{1000, 200_000} {
		var w waiting
		for i := range n {
			w.push(due(key(i), i), uint64(i))
		}
		b.Run(fmt.Sprintf("op=push+pop/n=%d", n), func(b *testing.B) {
			for i := range b.N {
				w.push(due(key(n+i), n+i), uint64(n+i))
				w.pop("")
			}
		})
		b.Run(fmt.Sprintf("op=prefix/n=%d", n), func(b *testing.B) {
			for range b.N {
				w.push(due("some-", 0), 0)
				w.pop("some-")
			}
		})
	}
}
