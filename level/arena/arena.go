package arena

import "slices"

const (
	// ChunkBits is the number of bits of an index that identify the entry in its chunk. A chunk is small, as a single
	// node keeps all of it.
	ChunkBits = 8
	chunkLen  = 1 << ChunkBits
	chunkRoom = chunkLen - 1 // entry 0 of a chunk is never used: 0 means none
	firstLen  = 4            // chunk 0 starts small and doubles, for small wheels

	// spareChunks is the most empty chunks that are kept.
	spareChunks = 8
	// manyChunks is the least number of chunks that are worth making a new arena, to release the lists of chunks, too.
	manyChunks = 16
)

// locate returns the chunk of an index and the entry in it.
func locate(i uint32) (chunk, entry uint32) { return i >> ChunkBits, i & (chunkLen - 1) }

// Arena holds nodes by value in chunks and identifies them by index. The zero Arena is ready to use. Index 0 is no
// node.
//
// Freed nodes are reused, last freed first, and preferably in the chunk that became partly free last, so that others
// can become empty. A few empty chunks are kept, and further ones are freed. The node that was freed last is not
// returned to its chunk, as the next Alloc is likely to reuse it.
type Arena struct {
	nodes   [][]Node // by chunk
	used    int      // Invariant: the sum of the field used of all chunks
	shape   uint32   // number of times that a chunk was made or grown
	hot     uint32   // the node freed last, which its chunk still counts as used, or 0
	chunks  []chunk  // by chunk
	partial uint32   // 1 + the first chunk that has room, or 0
	empty   int      // Invariant: the number of chunks that are empty and were not freed, at most spareChunks
	vacant  []uint32 // chunks that were freed. Invariant: their nodes are vacantNodes, which do not change
}

// chunk is the bookkeeping of one chunk. Each entry before fresh is used, or in the list of freed entries.
type chunk struct {
	free       uint32 // first freed entry, or 0
	fresh      uint32 // entries from here on were never used
	used       uint32 // live nodes
	prev, next uint32 // 1 + neighbour in the list of chunks that have room and are not vacant, or 0
}

// Len returns the number of live nodes.
func (a *Arena) Len() int {
	if a.hot != 0 {
		return a.used - 1
	}
	return a.used
}

// About returns Len or one more, without a branch.
func (a *Arena) About() int { return a.used }

// At returns the node of index i, which must be live. The pointer is valid until the next Alloc.
func (a *Arena) At(i uint32) *Node {
	return &a.nodes[i>>ChunkBits][i&(chunkLen-1)]
}

// Shape returns a number that changes whenever Alloc makes a chunk or grows one.
func (a *Arena) Shape() uint32 { return a.shape }

// ChunkLen returns the present number of entries of the chunk of index i.
func (a *Arena) ChunkLen(i uint32) int { return len(a.nodes[i>>ChunkBits]) }

// Lookup returns the live node of index i, or nil if that node has another generation or there is none. i may be any
// number.
func (a *Arena) Lookup(i uint32, generation uint64) *Node {
	if c, e := locate(i); int(c) < len(a.nodes) && int(e) < len(a.nodes[c]) {
		if n := &a.nodes[c][e]; n.id>>linkBits == generation && n.id != 0 {
			return n
		}
	}
	return nil
}

// Alloc returns the index of a new node, on which Init must be called.
func (a *Arena) Alloc() uint32 {
	if i := a.hot; i != 0 {
		a.hot = 0
		return i
	}
	return a.allocCold()
}

func (a *Arena) allocCold() uint32 {
	if a.partial == 0 {
		a.addChunk()
	}
	c := a.partial - 1
	m := &a.chunks[c]
	e := m.free
	if e != 0 {
		m.free = uint32(a.nodes[c][e].Key)
	} else {
		e = m.fresh
		m.fresh++
		if int(e) == len(a.nodes[c]) {
			a.growChunk(c)
		}
	}
	if m.used == 0 {
		a.empty--
	}
	m.used++
	a.used++
	if m.used == chunkRoom {
		a.unlinkPartial(c)
	}
	return c<<ChunkBits | e
}

// Released describes the memory that an arena no longer needs after a node was freed.
type Released uint32

const (
	// Nothing was released. This is the result for most nodes.
	Nothing Released = 0
	// Everything was released: of an arena that had many chunks, the last node was freed, and a new Arena would be
	// smaller.
	Everything Released = 1<<32 - 1
)

// Chunk returns the number of the one chunk that was released. It must not be called on Nothing or Everything.
func (r Released) Chunk() uint32 { return uint32(r) - 1 }

// Free frees n, the node of index i, and returns which memory was released with it. The node is dead from now on.
func (a *Arena) Free(i uint32, n *Node) Released {
	n.id, n.rest = 0, Unlinked<<circleShift
	if a.hot == 0 {
		a.hot = i
		return Nothing
	}
	return a.freeCold(i, n)
}

func (a *Arena) freeCold(i uint32, n *Node) Released {
	c, e := locate(i)
	m := &a.chunks[c]
	n.Key = int64(m.free)
	m.free = e
	m.used--
	a.used--
	if m.used == chunkRoom-1 {
		a.linkPartial(c)
	}
	emptied := m.used == 0 && a.emptied(c)
	switch {
	case a.used == 1 && len(a.nodes) >= manyChunks: // the only used node is the hot one, which is free
		return Everything
	case emptied:
		return Released(c + 1)
	}
	return Nothing
}

// emptied is called when chunk c is empty. It keeps a few empty chunks, so that small crowds that come and go do not
// allocate chunks each time. It reports whether c was freed.
func (a *Arena) emptied(c uint32) bool {
	if a.empty < spareChunks {
		a.empty++
		return false
	}
	a.unlinkPartial(c)
	a.nodes[c] = vacantNodes
	a.chunks[c] = chunk{}
	a.vacant = append(a.vacant, c)
	return true
}

// vacantNodes are nodes that no entry names. They take the place of a chunk that was freed, whose nodes stale entries
// may still name, and are never written. Nodes of a new chunk begin like them: index 0 is never used.
var vacantNodes = func() []Node {
	nodes := make([]Node, chunkLen)
	for i := range nodes {
		nodes[i].rest = Unlinked << circleShift
	}
	return nodes
}()

func (a *Arena) addChunk() {
	var c uint32
	if last := len(a.vacant) - 1; last >= 0 {
		c = a.vacant[last]
		a.vacant = a.vacant[:last]
	} else {
		c = uint32(len(a.nodes))
		if c > 1<<(32-ChunkBits)-1 {
			panic("arena: more than four thousand million timers")
		}
		a.nodes = append(a.nodes, nil)
		a.chunks = append(a.chunks, chunk{})
	}
	size := chunkLen
	if len(a.nodes) == 1 {
		size = firstLen
	}
	a.nodes[c] = slices.Clone(vacantNodes[:size]) // stale entries may already name nodes of the chunk
	a.chunks[c] = chunk{fresh: 1}
	a.empty++
	a.shape++
	a.linkPartial(c)
}

// growChunk doubles a chunk that started small. Links are indexes, so nodes can be moved.
func (a *Arena) growChunk(c uint32) {
	grown := slices.Clone(vacantNodes[:min(2*len(a.nodes[c]), chunkLen)])
	copy(grown, a.nodes[c])
	a.nodes[c] = grown
	a.shape++
}

func (a *Arena) linkPartial(c uint32) {
	m := &a.chunks[c]
	m.prev, m.next = 0, a.partial
	if a.partial != 0 {
		a.chunks[a.partial-1].prev = c + 1
	}
	a.partial = c + 1
}

func (a *Arena) unlinkPartial(c uint32) {
	m := &a.chunks[c]
	if m.prev != 0 {
		a.chunks[m.prev-1].next = m.next
	} else {
		a.partial = m.next
	}
	if m.next != 0 {
		a.chunks[m.next-1].prev = m.prev
	}
	m.prev, m.next = 0, 0
}
