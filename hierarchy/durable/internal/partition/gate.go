package partition

import (
	"slices"
	"time"
)

// Gate limits the number of frames that are in flight at once, over all partitions of a process, because disks and
// servers sync more or less one file after the other. While partitions wait, their queues grow, and so do their next
// frames. The partition with the longest queue is next, so that each frame answers as many callers as possible. NewGate
// and NewLearningGate make a Gate. A nil Gate limits nothing.
type Gate struct {
	mu      mutex
	places  int
	taken   int
	waiting []*waiter // in the order of their arrival
	pace    *pace     // learns the number of places; if nil, the number stays the same
}

// NewGate returns a Gate for n frames at once.
func NewGate(n int) *Gate {
	g := &Gate{places: n}
	g.mu.isOuter()
	return g
}

// NewLearningGate returns a Gate that learns the number of frames that can be in flight without waiting for each other.
func NewLearningGate() *Gate {
	g := NewGate(fewestPlaces)
	g.pace = new(pace)
	return g
}

// waiter is one partition's wait for a place.
type waiter struct {
	queue  *queue
	rest   int           // the number of items that wait in addition to the items in queue
	passed int           // the number of times that another waiter went first
	given  chan struct{} // of capacity 1: gets a value when the waiter has a place
}

func newWaiter(q *queue) *waiter { return &waiter{queue: q, given: make(chan struct{}, 1)} }

// weight returns the priority of a waiter: the one with the greatest weight is next. Being passed over patience times
// counts as much as one more operation.
func (t *waiter) weight() int {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	return patience*(t.rest+len(t.queue.items)) + t.passed
}

const patience = 3

// gateTime limits the wait for a place. A log that does not answer must not hold up the other logs.
const gateTime = 20 * time.Millisecond

// enter waits for a place, and reports whether it got one. Between enter and leave, the Gate does not use t.
func (g *Gate) enter(t *waiter, rest int) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	if g.taken < g.places {
		g.taken++
		g.mu.Unlock()
		return true
	}
	t.rest, t.passed = rest, 0
	g.waiting = append(g.waiting, t)
	g.mu.Unlock()
	timeout := time.NewTimer(gateTime)
	defer timeout.Stop()
	select {
	case <-t.given:
		return true
	case <-timeout.C:
		return !g.giveUp(t)
	}
}

// giveUp ends a wait. It reports false if t has been given a place meanwhile.
func (g *Gate) giveUp(t *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, t)
	if i < 0 {
		<-t.given
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	return true
}

// leave releases a place, and passes free places on to waiters. took is how long the frame was in flight, or 0 if the
// Gate should not learn from it.
func (g *Gate) leave(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pace != nil && took > 0 {
		g.places = g.pace.learn(time.Now(), took)
	}
	g.taken--
	for g.taken < g.places && len(g.waiting) > 0 {
		g.taken++
		g.pass()
	}
}

// pass gives a place to the waiter with the greatest weight.
func (g *Gate) pass() {
	next, most := 0, -1
	for i, t := range g.waiting {
		if w := t.weight(); w > most {
			next, most = i, w
		}
		t.passed++
	}
	g.waiting[next].given <- struct{}{}
	g.waiting = slices.Delete(g.waiting, next, next+1)
}

// pace learns how many frames should be in flight to servers at once. As long as a frame takes hardly longer than one
// that was sent alone, the number grows. When frames take longer, they only queue behind each other, and the number
// falls: fewer, larger frames then have the same throughput.
type pace struct {
	places float64
	alone  time.Duration // the shortest time of a frame in the last window; such a frame hardly waited for others
	least  time.Duration // the shortest time of a frame in this window
	end    time.Time     // the end of this window
}

const (
	fewestPlaces, mostPlaces = 2, 64

	paceWindow = 10 * time.Second // time for which a measurement is valid: the speed of the servers may change
	paceSlack  = 1.5              // the number of places falls if a frame takes longer than this multiple of alone
	paceGain   = 0.2              // weight of one frame in the change of the number of places
)

// learn returns the new number of places, after a frame has been in flight for the time took.
func (p *pace) learn(now time.Time, took time.Duration) int {
	if now.After(p.end) { // few places make frames almost alone, so that their time is measured again
		p.alone, p.least, p.places, p.end = p.least, took, fewestPlaces, now.Add(paceWindow)
		if p.alone == 0 {
			p.alone = took
		}
	}
	p.least = min(p.least, took)
	free := min(1, paceSlack*float64(min(p.alone, p.least))/float64(took))
	p.places += paceGain * (1 - p.places*(1-free))
	p.places = min(mostPlaces, max(fewestPlaces, p.places))
	return int(p.places)
}
