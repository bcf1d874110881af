package level

// Sort sorts slot s in place, without allocation. It is a merge sort of the ascending runs
// that it finds, so a sorted list costs one pass and a list of two runs two passes.
func (l *Level) Sort(a *Arena, s int) {
	if l.Sorted(s) {
		return
	}
	q := &l.slots[s]
	for runs := 2; runs > 1; {
		runs = l.mergeRuns(a, q)
	}
	l.relinkBack(a, q)
	l.unsorted &^= 1 << uint(s)
}

// mergeRuns merges the ascending runs of q in pairs and returns how many runs are left. It
// sets next links alone.
func (l *Level) mergeRuns(a *Arena, q *list) int {
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
func (l *Level) relinkBack(a *Arena, q *list) {
	prev := uint32(0)
	for i := q.head; i != 0; {
		n := a.At(i)
		n.prev = prev
		prev, i = i, n.next
	}
}
