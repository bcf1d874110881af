package arena

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNodeKeepsItsParts(t *testing.T) {
	var n Node
	n.Init(-5, MaxSequence, 0xf, Unlinked, 0)
	require.EqualValues(t, MaxSequence, n.Generation())
	require.EqualValues(t, MaxSequence, n.Order())
	require.EqualValues(t, 0xf, n.Flags())
	require.Equal(t, Unlinked, n.Circle())
	require.False(t, n.Linked())
	stamp := n.Stamp()
	require.False(t, n.Named(stamp), "no entry names it")
	n.Relink(11, 63)
	require.True(t, n.Linked())
	require.False(t, n.Named(stamp), "an entry from before")
	require.True(t, n.Named(n.Stamp()))
	require.Equal(t, 11, n.Circle())
	require.Equal(t, 63, n.Slot())
	n.Rekey(8, 3)
	require.EqualValues(t, 3, n.Order())
	require.EqualValues(t, MaxSequence, n.Generation())
	require.True(t, n.Named(n.Stamp()), "its entry stays where it is")
	require.Equal(t, 63, n.Slot())
	require.EqualValues(t, 0xf, n.Flags())
	n.Relink(Unlinked, 0)
	require.Equal(t, Unlinked, n.Circle())
	require.EqualValues(t, MaxSequence, n.Generation())
}

func TestArenaNeverConfusesGenerations(t *testing.T) {
	var a Arena
	i := a.Alloc()
	n := a.At(i)
	n.Init(0, 1, 0, 0, 0)
	require.Same(t, n, a.Lookup(i, 1))
	a.Free(i, n)
	require.Nil(t, a.Lookup(i, 1))
	require.Nil(t, a.Lookup(i, 0), "a free node must not be found")
	j := a.Alloc()
	n = a.At(j)
	n.Init(42, 2, 0, 0, 0)
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
				n.Init(int64(seq), seq, 0, 0, 0)
				if _, taken := live[i]; taken || i == 0 {
					require.Fail(t, "the index is taken", "%d", i)
				}
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
		a.At(a.Alloc()).Init(0, seq+1, 0, 0, 0)
	}
	peak := heap() - before
	require.Less(t, peak, int64(many*26), "bytes for a million nodes of 24 bytes each")
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
	require.InDelta(t, len(chunks), len(given), spareChunks+2, "all chunks but the spare ones and those of the last two nodes must be released")
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

// A chain is a queue from whose end, too, entries can be taken, whatever its length.
func TestChainAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var m Memory
	var c Chain
	var want []Entry
	for n := range uint32(30_000) {
		grow := n/5000%2 == 0
		switch {
		case grow && r.IntN(8) > 0 || len(want) == 0:
			e := Entry{n, n * 7}
			m.Add(&c, e)
			want = append(want, e)
		case r.IntN(4) == 0:
			front := c.From(0, 1+r.IntN(40))
			require.NotEmpty(t, front)
			require.Equal(t, want[:len(front)], front)
			want = want[len(front):]
			m.Take(&c, len(front))
		case r.IntN(3) == 0:
			back := c.Back(1 + r.IntN(40))
			require.NotEmpty(t, back)
			require.Equal(t, want[len(want)-len(back):], back)
			want = want[:len(want)-len(back)]
			m.Cut(&c, len(back))
		default:
			require.False(t, c.Undo(Entry{}), "it was not added last")
			if c.Undo(want[len(want)-1]) {
				want = want[:len(want)-1]
			}
		}
		require.NoError(t, c.Check())
		require.Equal(t, len(want), c.Len())
		if len(want) > 0 {
			at := r.IntN(len(want))
			require.Equal(t, want[at], *c.At(at))
		}
		if r.IntN(5000) == 0 {
			m.Clear(&c)
			want = nil
		}
	}
	m.Drop(&c)
	require.Zero(t, c.Len())
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	var a Arena
	var m Memory
	var c Chain
	for seq := range uint64(10_000) {
		a.At(a.Alloc()).Init(0, seq+1, 0, 0, 0)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		var at [BlockLen]uint32
		for k := range at {
			i := a.Alloc()
			n := a.At(i)
			n.Init(int64(-k), 7, 0, 0, 5)
			m.Add(&c, Entry{i, n.Stamp()})
			at[k] = i
		}
		for c.Len() > 0 {
			m.Take(&c, len(c.From(0, 16)))
		}
		m.Drop(&c)
		for _, i := range at {
			a.Free(i, a.At(i))
		}
	}))
}

// After goes over all nodes once that stay, however many are made and freed meanwhile.
func TestAfterFindsAllThatStay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var a Arena
	seq := uint64(0)
	alloc := func() uint32 {
		seq++
		i := a.Alloc()
		a.At(i).Init(0, seq, 0, 0, 0)
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

// Trim leaves the memory that small crowds need, so that they allocate nothing.
func TestTrim(t *testing.T) {
	var m Memory
	fill := func(n int) {
		var c Chain
		for i := range uint32(n) {
			m.Add(&c, Entry{i, 0})
		}
		m.Drop(&c)
		m.Trim()
	}
	fill(100 * BlockLen)
	require.Len(t, m.tails[len(tailSizes)-1], fewBlocks)
	list := testing.AllocsPerRun(10, func() { fill(BlockLen + 1) })
	require.LessOrEqual(t, list, 1.0, "the list of blocks")
}
