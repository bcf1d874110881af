package state

import "hash/maphash"

// table finds records by key. It consists of many hash tables with open addressing, called parts. They grow and shrink
// one at a time, so that no call waits until millions of entries have moved.
type table struct {
	seed  maphash.Seed
	parts [parts]part
}

const (
	partBits  = 6
	parts     = 1 << partBits
	leastSize = 8
)

// part holds the numbers of records. A record is in the first free slot at or after its hash, so all slots in between
// are full.
type part struct {
	slots []uint32 // 0 is empty. Invariant: the length is 0 or a power of two
	count int      // Invariant: at most three quarters of the slots
}

func (t *table) hash(key []byte) uint32 { return uint32(maphash.Bytes(t.seed, key)) }

func (t *table) part(hash uint32) *part { return &t.parts[hash>>(32-partBits)] }

// find returns the record with that key, or 0.
func (t *table) find(records *records, hash uint32, key []byte) uint32 {
	p := t.part(hash)
	if p.count == 0 {
		return 0
	}
	mask := uint32(len(p.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		i := p.slots[at]
		if i == 0 {
			return 0
		}
		if r := records.at(i); r.hash == hash && r.data[:r.keyLen] == string(key) {
			return i
		}
	}
}

// insert adds record i, whose key must not be in the table.
func (t *table) insert(records *records, i uint32) {
	hash := records.at(i).hash
	p := t.part(hash)
	if 4*(p.count+1) > 3*len(p.slots) {
		p.resize(records, max(leastSize, 2*len(p.slots)))
	}
	p.put(hash, i)
	p.count++
}

func (p *part) put(hash, i uint32) {
	mask := uint32(len(p.slots) - 1)
	at := hash & mask
	for p.slots[at] != 0 {
		at = (at + 1) & mask
	}
	p.slots[at] = i
}

func (p *part) resize(records *records, size int) {
	old := p.slots
	p.slots = make([]uint32, size)
	for _, i := range old {
		if i != 0 {
			p.put(records.at(i).hash, i)
		}
	}
}

// remove takes record i out, and moves those records after it that could not be found otherwise.
func (t *table) remove(records *records, i uint32) {
	p := t.part(records.at(i).hash)
	mask := uint32(len(p.slots) - 1)
	hole := records.at(i).hash & mask
	for p.slots[hole] != i {
		hole = (hole + 1) & mask
	}
	for at := (hole + 1) & mask; p.slots[at] != 0; at = (at + 1) & mask {
		home := records.at(p.slots[at]).hash & mask
		if (at-home)&mask >= (at-hole)&mask { // the hole is between the record's home and its slot
			p.slots[hole], hole = p.slots[at], at
		}
	}
	p.slots[hole] = 0
	switch p.count--; {
	case p.count == 0:
		p.slots = nil
	case 8*p.count < len(p.slots) && len(p.slots) > leastSize:
		p.resize(records, len(p.slots)/2)
	}
}
