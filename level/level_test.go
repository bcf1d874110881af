package level

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// twin is a level and a simple model of it: a list of indexes for each slot.
type twin struct {
	t     *testing.T
	arena Arena
	level Level
	want  [Slots][]uint32
	seq   uint64
}

func (w *twin) push(slot int, key int64) uint32 {
	w.seq++
	i := w.arena.Alloc()
	n := w.arena.At(i)
	n.Init(key, w.seq, 0, 3, slot, slot&1)
	w.level.Push(&w.arena, i, n)
	w.want[slot] = append(w.want[slot], i)
	return i
}

func (w *twin) remove(slot, place int) {
	i := w.want[slot][place]
	n := w.arena.At(i)
	w.level.Remove(&w.arena, n)
	w.arena.Free(i, n)
	w.want[slot] = slices.Delete(w.want[slot], place, place+1)
}

func (w *twin) rekey(slot, place int, later int64) {
	w.seq++
	n := w.arena.At(w.want[slot][place])
	n.Rekey(n.Key+later, w.seq)
	w.level.Rekeyed(n, later>>63)
}

func (w *twin) sort(slot int) {
	w.level.Sort(&w.arena, slot)
	slices.SortFunc(w.want[slot], func(x, y uint32) int {
		if w.arena.At(x).Before(w.arena.At(y)) {
			return -1
		}
		return 1
	})
	require.True(w.t, w.level.Sorted(slot))
}

func (w *twin) check() {
	w.t.Helper()
	require.NoError(w.t, w.level.Check(&w.arena))
	require.NoError(w.t, w.arena.Check())
	first, empty := 0, true
	for slot := Slots - 1; slot >= 0; slot-- {
		var got []uint32
		w.level.Each(&w.arena, slot, func(i uint32, n *Node) {
			require.Equal(w.t, slot, n.Slot())
			got = append(got, i)
		})
		require.Equal(w.t, len(w.want[slot]), w.level.Len(slot))
		require.True(w.t, slices.Equal(w.want[slot], got), "slot %d: want %v, got %v", slot, w.want[slot], got)
		if len(got) > 0 {
			first, empty = slot, false
			require.Equal(w.t, got[0], w.level.Head(slot))
		}
	}
	require.Equal(w.t, empty, w.level.Empty())
	if !empty {
		require.Equal(w.t, first, w.level.First())
	}
}

func TestLevelAgainstLists(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := &twin{t: t}
		for range 300 {
			slot := r.IntN(4) * 21 // 0, 21, 42 or 63: few slots, so that lists grow
			switch n := len(w.want[slot]); {
			case n == 0 || r.IntN(3) > 0:
				w.push(slot, r.Int64N(10))
			case r.IntN(4) == 0:
				w.sort(slot)
			case r.IntN(2) == 0:
				w.rekey(slot, r.IntN(n), r.Int64N(3))
			default:
				w.remove(slot, r.IntN(n))
			}
			w.check()
		}
	}
}

// Seek finds all nodes of a slot, after many others were freed and however many entries a
// call may look at.
func TestSeekFindsWhatASlotHolds(t *testing.T) {
	w := &twin{t: t}
	for range 40_000 {
		slot := rand.IntN(4)
		if n := len(w.want[slot]); n > 0 && rand.IntN(5) < 2 {
			w.remove(slot, rand.IntN(n))
		} else {
			w.push(slot, rand.Int64N(100))
		}
	}
	require.Greater(t, len(w.arena.nodes), 2)
	for slot := range 4 {
		for _, most := range []int{1, 7, 100_000} {
			var found []uint32
			for next := uint32(1); next != 0; {
				i, onward, looked := w.arena.Seek(next, 3, slot, slot&1, most)
				require.LessOrEqual(t, looked, most)
				if i != 0 {
					found = append(found, i)
				}
				next = onward
			}
			want := slices.Sorted(slices.Values(w.want[slot]))
			require.Equal(t, want, found)
		}
		i, _, _ := w.arena.Seek(1, 3, slot, 1-slot&1, 100_000)
		require.Zero(t, i, "found a node with the other side")
		i, _, _ = w.arena.Seek(1, 2, slot, slot&1, 100_000)
		require.Zero(t, i, "found a node of another circle")
	}
}

func TestPushInOrderStaysSorted(t *testing.T) {
	w := &twin{t: t}
	for key := range int64(10) {
		w.push(7, key/2)
	}
	require.True(t, w.level.Sorted(7))
	w.rekey(7, 9, 5)
	require.True(t, w.level.Sorted(7), "the tail may move later")
	w.push(7, 0)
	require.False(t, w.level.Sorted(7))
	w.sort(7)
	w.rekey(7, 3, 5)
	require.False(t, w.level.Sorted(7))
	w.check()
}

func TestNodeKeepsItsParts(t *testing.T) {
	var n Node
	n.Init(-5, MaxSequence, 0xf, Unlinked, 0, 0)
	require.EqualValues(t, MaxSequence, n.Generation())
	require.EqualValues(t, MaxSequence, n.Order())
	require.EqualValues(t, 0xf, n.Flags())
	require.Equal(t, Unlinked, n.Circle())
	n.Place(11, 63, 1)
	require.Equal(t, 1, n.Side())
	require.Equal(t, 11, n.Circle())
	require.Equal(t, 63, n.Slot())
	n.Rekey(8, 3)
	require.EqualValues(t, 3, n.Order())
	require.EqualValues(t, MaxSequence, n.Generation())
	require.Equal(t, 63, n.Slot())
	require.EqualValues(t, 0xf, n.Flags())
	n.Unlink()
	require.Equal(t, Unlinked, n.Circle())
}

func TestArenaNeverConfusesGenerations(t *testing.T) {
	var a Arena
	i := a.Alloc()
	n := a.At(i)
	n.Init(0, 1, 0, 0, 0, 0)
	require.Same(t, n, a.Lookup(i, 1))
	a.Free(i, n)
	require.Nil(t, a.Lookup(i, 1))
	require.Nil(t, a.Lookup(i, 0), "a free node must not be found")
	j := a.Alloc()
	n = a.At(j)
	n.Init(42, 2, 0, 0, 0, 0)
	require.Equal(t, i, j, "the node freed last must be used again first")
	require.Nil(t, a.Lookup(i, 1))
	require.EqualValues(t, 42, a.Lookup(j, 2).Key)
	require.Nil(t, a.Lookup(1<<31, 1), "an index in a chunk that does not exist")
	require.Nil(t, a.Lookup(500, 1), "an index beyond the end of a chunk")
}

func TestArenaAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var a Arena
	live := map[uint32]uint64{}
	var order []uint32
	var seq uint64
	for round := range 18 {
		grow := round%6 < 3
		for range 2000 {
			if grow || len(order) == 0 {
				seq++
				i := a.Alloc()
				n := a.At(i)
				n.Init(int64(seq), seq, 0, 0, 0, 0)
				require.NotContains(t, live, i)
				require.NotZero(t, i)
				live[i] = seq
				order = append(order, i)
				continue
			}
			k := r.IntN(len(order))
			i := order[k]
			order[k] = order[len(order)-1]
			order = order[:len(order)-1]
			require.EqualValues(t, live[i], a.At(i).Key)
			a.Free(i, a.At(i))
			delete(live, i)
		}
		require.NoError(t, a.Check())
		require.Equal(t, len(live), a.Len())
		a.Each(func(i uint32, n *Node) { require.Equal(t, live[i], n.Generation()) })
	}
}

func TestArenaGivesMemoryBack(t *testing.T) {
	var a Arena
	before := heap()
	const many = 1_000_000
	for seq := range uint64(many) {
		a.At(a.Alloc()).Init(0, seq+1, 0, 0, 0, 0)
	}
	peak := heap() - before
	require.Less(t, peak, int64(many*34), "bytes for a million nodes of 32 bytes each")
	var all []uint32
	a.Each(func(i uint32, _ *Node) { all = append(all, i) })
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	chunks := map[uint32]bool{}
	deserted, given := 0, []Released{}
	for _, i := range all {
		chunks[i>>ChunkBits] = true
		switch released := a.Free(i, a.At(i)); released {
		case Nothing:
		case Everything:
			deserted++
		default:
			given = append(given, released)
			require.True(t, chunks[released.Chunk()], "a chunk that had nodes")
		}
	}
	all = nil
	require.Equal(t, 1, deserted, "Everything must be returned once, when one node is left")
	require.InDelta(t, len(chunks), len(given), 3, "all chunks but the spare and those of the last two nodes must be released")
	require.NoError(t, a.Check())
	require.Less(t, heap()-before, peak/50)
	runtime.KeepAlive(&a)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestArenaSteadyStateAllocatesNothing(t *testing.T) {
	var a Arena
	var l Level
	for seq := range uint64(10_000) {
		a.At(a.Alloc()).Init(0, seq+1, 0, 0, 0, 0)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		var at [5]uint32
		for k := range at {
			i := a.Alloc()
			n := a.At(i)
			n.Init(int64(-k), 7, 0, 0, 5, 0)
			l.Push(&a, i, n)
			at[k] = i
		}
		l.Sort(&a, 5)
		for _, i := range at {
			l.Remove(&a, a.At(i))
			a.Free(i, a.At(i))
		}
	}))
}

// FuzzSort sorts lists with arbitrary keys.
func FuzzSort(f *testing.F) {
	f.Add([]byte{3, 1, 2})
	f.Add([]byte{1, 2, 3, 1, 2, 3, 0})
	f.Add([]byte{9, 8, 7, 6, 5, 4, 4, 4})
	f.Fuzz(func(t *testing.T, keys []byte) {
		w := &twin{t: t}
		for _, k := range keys {
			w.push(0, int64(k))
		}
		w.sort(0)
		w.check()
	})
}

// Nodes come in order of key, and those of one key in the order in which they were set.
func TestBefore(t *testing.T) {
	node := func(key int64, order uint64) *Node {
		n := new(Node)
		n.Init(key, order, 0, 0, 63, 1)
		return n
	}
	require.True(t, node(1, 9).Before(node(2, 5)))
	require.False(t, node(2, 5).Before(node(1, 9)))
	require.True(t, node(2, 5).Before(node(2, 6)))
	require.False(t, node(2, 6).Before(node(2, 5)))
	require.True(t, node(math.MinInt64, 2).Before(node(math.MaxInt64, 1)))
}

// After goes over all nodes once that stay, however many are made and freed meanwhile.
func TestAfterFindsAllThatStay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var a Arena
	seq := uint64(0)
	alloc := func() uint32 {
		seq++
		i := a.Alloc()
		a.At(i).Init(0, seq, 0, 0, 0, 0)
		return i
	}
	stay, gone := map[uint32]bool{}, []uint32{}
	for n := range 3 * chunkLen {
		if i := alloc(); n%2 == 0 || n > 2*chunkLen {
			stay[i] = true
		} else {
			gone = append(gone, i)
		}
	}
	for i := a.After(0); i != 0; i = a.After(i) {
		delete(stay, i)
		if last := len(gone) - 1; last >= 0 && r.IntN(2) == 0 {
			a.Free(gone[last], a.At(gone[last]))
			gone = gone[:last]
		} else if r.IntN(2) == 0 {
			alloc()
		}
	}
	require.Empty(t, stay)
	require.NoError(t, a.Check())
}

// The nodes of a loosened slot come and go without touching each other, until it is empty. Then
// it is a slot like any other.
func TestLoosenedSlot(t *testing.T) {
	var a Arena
	var l Level
	l.Loosen(5) // an empty slot stays as it is
	require.False(t, l.Loose(5))
	var all []uint32
	push := func(key int64) {
		i := a.Alloc()
		a.At(i).Init(key, uint64(len(all)+1), 0, 0, 5, 0)
		l.Push(&a, i, a.At(i))
		all = append(all, i)
		require.NoError(t, l.Check(&a))
	}
	for key := range int64(10) {
		push(key)
	}
	l.Loosen(5)
	before := *a.At(all[3])
	for _, i := range []int{2, 4, 0, 9} {
		require.False(t, l.Remove(&a, a.At(all[i])))
		require.NoError(t, l.Check(&a))
	}
	push(11)
	require.Equal(t, before, *a.At(all[3]))
	require.True(t, l.Loose(5))
	require.False(t, l.Sorted(5))
	require.Equal(t, 7, l.Len(5))
	for k, i := range []int{10, 1, 3, 5, 6, 7, 8} {
		require.Equal(t, k == 6, l.Remove(&a, a.At(all[i])))
	}
	require.False(t, l.Loose(5))
	require.True(t, l.Sorted(5))
	push(1)
	push(2)
	require.Equal(t, all[11], l.Head(5))
	require.Equal(t, all[12], a.At(all[11]).Next())
}
