package level

import (
	"math"
	"math/bits"
)

// dealFrom is the length from which a list in no order is dealt out before it is sorted. Its
// nodes no longer fit in the fastest cache then, and merging goes over all of them many times.
const dealFrom = 512

// Sort sorts slot s in place, without allocation. A list of few ascending runs costs a pass
// or two. A long list in no order costs a pass for each six bits in which its keys differ, and
// some for what is left.
func (l *Level) Sort(a *Arena, s int) {
	if l.Sorted(s) {
		return
	}
	q := &l.slots[s]
	sortList(a, q)
	relinkBack(a, q)
	l.unsorted &^= 1 << uint(s)
}

// sortList sorts q by merging the ascending runs that it finds, or by dealing it out if those
// seem to be many. It sets next links alone.
func sortList(a *Arena, q *list) {
	if q.n >= dealFrom && startsInDisorder(a, q) {
		lo, hi := span(a, q, (*Node).sortedKey)
		if lo != hi {
			deal(a, q, lo, hi, (*Node).sortedKey)
			return
		}
		lo, hi = span(a, q, (*Node).Order)
		deal(a, q, lo, hi, (*Node).Order)
		return
	}
	for runs := 2; runs > 1; {
		runs = mergeRuns(a, q)
	}
}

// startsInDisorder tells whether the first nodes of q, which is long, are in many ascending
// runs.
func startsInDisorder(a *Arena, q *list) bool {
	const first, many = 64, 16
	runs := 1
	n := a.At(q.head)
	for range first {
		m := a.At(n.next)
		if m.Before(n) {
			runs++
		}
		n = m
	}
	return runs >= many
}

// sortedKey is n's key as a number that is not signed: negative keys come first.
func (n *Node) sortedKey() uint64 { return uint64(n.Key) ^ 1<<63 }

// span is the least and the greatest in q of what of returns.
func span(a *Arena, q *list, of func(*Node) uint64) (lo, hi uint64) {
	lo, hi = math.MaxUint64, 0
	for i := q.head; i != 0; {
		n := a.At(i)
		lo, hi = min(lo, of(n)), max(hi, of(n))
		i = n.next
	}
	return lo, hi
}

// deal sorts q by dealing it over 64 lists by the highest bits in which what of returns
// differs, sorting each, and putting them together again. It is from lo to hi.
func deal(a *Arena, q *list, lo, hi uint64, of func(*Node) uint64) {
	shift := max(0, bits.Len64(lo^hi)-Bits)
	var dealt [Slots]list
	for i := q.head; i != 0; {
		n := a.At(i)
		next := n.next
		n.next = 0
		dealt[of(n)>>shift&(Slots-1)].append(a, list{i, i, 1})
		i = next
	}
	*q = list{}
	for d := range dealt {
		if dealt[d].n > 0 {
			sortList(a, &dealt[d])
			q.append(a, dealt[d])
		}
	}
}

// append puts the nodes of p, of which there is one at least, behind those of q.
func (q *list) append(a *Arena, p list) {
	if q.n == 0 {
		*q = p
		return
	}
	a.At(q.tail).next = p.head
	q.tail = p.tail
	q.n += p.n
}

// mergeRuns merges the ascending runs of q in pairs and returns how many runs are left.
func mergeRuns(a *Arena, q *list) int {
	rest, merged := q.head, 0
	q.head, q.tail = 0, 0
	for rest != 0 {
		x := rest
		y := cutRun(a, x)
		rest = 0
		if y != 0 {
			rest = cutRun(a, y)
		}
		mergeOnto(a, q, x, y)
		merged++
	}
	return merged
}

// cutRun ends the ascending run that starts at i and returns what came after.
func cutRun(a *Arena, i uint32) uint32 {
	n := a.At(i)
	for n.next != 0 {
		m := a.At(n.next)
		if m.Before(n) {
			break
		}
		n = m
	}
	rest := n.next
	n.next = 0
	return rest
}

// mergeOnto appends the merger of two ascending runs to q.
func mergeOnto(a *Arena, q *list, x, y uint32) {
	for x != 0 || y != 0 {
		var i uint32
		if y == 0 || x != 0 && !a.At(y).Before(a.At(x)) {
			i, x = x, a.At(x).next
		} else {
			i, y = y, a.At(y).next
		}
		if q.tail == 0 {
			q.head = i
		} else {
			a.At(q.tail).next = i
		}
		q.tail = i
	}
}

// relinkBack sets the prev links to agree with the next links.
func relinkBack(a *Arena, q *list) {
	prev := uint32(0)
	for i := q.head; i != 0; {
		n := a.At(i)
		n.prev = prev
		prev, i = i, n.next
	}
}
