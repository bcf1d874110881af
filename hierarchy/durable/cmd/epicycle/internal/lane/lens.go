package lane

import (
	"cmp"
	"slices"
)

// Len is the number of timers that wait in a queue.
type Len struct {
	Queue string
	Len   int
}

// Lens returns the numbers of timers that wait in the queues with the most, at most the number most of queues, and the
// sum of the others. Queues without timers are left out.
func (q *Queues) Lens(most int) (all []Len, others int) {
	q.mu.Lock()
	for name, one := range q.queues {
		if n := int(one.n.Load()); n > 0 {
			all = append(all, Len{name, n})
		}
	}
	q.mu.Unlock()
	slices.SortFunc(all, func(a, b Len) int { return cmp.Or(b.Len-a.Len, cmp.Compare(a.Queue, b.Queue)) })
	for _, l := range all[min(most, len(all)):] {
		others += l.Len
	}
	return all[:min(most, len(all))], others
}
