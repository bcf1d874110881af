package lane

import "github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"

// Limited adds how many timers wait because of each limit.
func (h *Hosts) Limited(counts map[limits.Scope]int) map[limits.Scope]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, at := range h.hosts {
		h.gate.count(&at.waiting, counts)
	}
	return counts
}

// Limited adds how many timers wait because of each limit.
func (q *Queues) Limited(counts map[limits.Scope]int) map[limits.Scope]int {
	q.mu.Lock()
	all := make([]*queue, 0, len(q.queues))
	for _, one := range q.queues {
		all = append(all, one)
	}
	q.mu.Unlock()
	for _, one := range all {
		one.mu.Lock()
		q.gate.count(&one.waiting, counts)
		one.mu.Unlock()
	}
	return counts
}
