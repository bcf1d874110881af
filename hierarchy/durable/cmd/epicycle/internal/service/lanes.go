package service

import "github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"

// Lanes has the numbers of requests to webhooks and subjects, of firings that are taken, and of firings that wait in the
// queues: in those with the most, and in all others together.
type Lanes struct {
	lane.Figures
	Taken  int
	Queues map[string]int
	Others int
}

// maxQueues is how many queues Lanes has at most.
const maxQueues = 1000

// Lanes returns a snapshot.
func (s *Service) Lanes() Lanes {
	l := Lanes{Figures: s.hosts.Figures(), Taken: int(s.taken.Load()), Queues: make(map[string]int)}
	all, others := s.queues.Lens(maxQueues)
	for _, q := range all {
		l.Queues[q.Queue] = q.Len
	}
	l.Others = others
	return l
}

// Crowded returns the number of hosts that wait until hosts that do not answer have fewer requests.
func (s *Service) Crowded() int { return s.hosts.Crowded() }
