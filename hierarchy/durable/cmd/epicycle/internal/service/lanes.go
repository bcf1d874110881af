package service

// Lanes has the numbers of webhooks that are being sent and that wait, of firings that are taken, and of firings that
// wait in the queues: in those with the most, and in all others together.
type Lanes struct {
	Sending, Waiting, Taken int
	Queues                  map[string]int
	Others                  int
}

// maxQueues is how many queues Lanes has at most.
const maxQueues = 1000

// Lanes returns a snapshot.
func (s *Service) Lanes() (l Lanes) {
	l.Sending, l.Waiting = s.hosts.Len()
	l.Taken, l.Queues = int(s.taken.Load()), make(map[string]int)
	all, others := s.queues.Lens(maxQueues)
	for _, q := range all {
		l.Queues[q.Queue] = q.Len
	}
	l.Others = others
	return l
}
