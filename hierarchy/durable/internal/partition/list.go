package partition

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"

// Lookup returns the timer of a key, dead or not.
func (p *Partition) Lookup(key []byte) (t state.Timer, ok bool, err error) {
	p.mu.Lock()
	_, ref, ok := p.core.State.Find(key)
	if ok {
		t = p.core.State.Listed(ref)
	}
	p.mu.Unlock()
	return t, ok, p.held()
}

// Query selects the timers that List returns: of those that match, the first ones in the order of their keys.
type Query struct {
	States state.States
	Prefix string
	From   string // keys are not less than From
	Limit  int    // the largest number of timers, at least 1
	Bytes  int    // the largest sum of the sizes of timers, unless there is only one
	Logged bool   // whether Attempt is the last attempt that is in the log, instead of the last one that has begun
}

// After returns the From of the timers after a key.
func After(key string) string { return key + "\x00" }

// Found is a part of the timers that match a query. With More there may be others after these, even if these are none.
type Found struct {
	Timers []state.Timer
	More   bool
}

// List returns the first timers that match a query. It looks at no others, and holds the lock for a bounded number at a
// time. A timer that is pending throughout, and lies between From and the last timer returned, is returned.
//
// The first calls build the index. Until it is complete they return no timers, and More.
func (p *Partition) List(q *Query) (Found, error) {
	l := listing{Query: *q, of: p}
	for l.step() {
	}
	return l.found, p.held()
}

// listing is a List in progress.
type listing struct {
	Query // From is where the next step begins
	of    *Partition
	refs  []state.Ref
	found Found
	bytes int
	built int // how many steps have built the index
}

// indexSteps is the number of steps in which one List builds the index. Other calls that were sent to this process wait
// for them.
const indexSteps = 16

// step finds the next few timers, unless it has to build the index. It reports whether there is another step.
func (l *listing) step() bool {
	l.of.lists <- struct{}{}
	defer func() { <-l.of.lists }()
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if !l.of.core.State.Index(scanBatch) {
		l.found.More = true
		l.built++
		return l.built < indexSteps
	}
	left := l.Limit - len(l.found.Timers)
	most := min(scanBatch, left)
	l.refs = l.of.core.State.Ordered(l.States, l.Prefix, l.From, most, l.refs[:0])
	for _, ref := range l.refs {
		t := l.of.core.State.Listed(ref)
		if l.Logged {
			t = l.of.core.State.Logged(ref)
		}
		if l.bytes += t.Size(); l.bytes > l.Bytes && len(l.found.Timers) > 0 {
			l.found.More = true
			return false
		}
		l.found.Timers = append(l.found.Timers, t)
		l.From = After(t.Key)
	}
	l.found.More = len(l.refs) == most
	return l.found.More && most < left
}

// Snapshot holds all timers of a partition as they were at one moment. Its methods must not be called concurrently. It
// must be closed.
type Snapshot struct {
	of *Partition
	in *state.Snapshot
}

// Snapshot returns the timers as they are now.
func (p *Partition) Snapshot() (*Snapshot, error) {
	p.mu.Lock()
	n := &Snapshot{p, p.core.State.Snapshot()}
	p.mu.Unlock()
	if err := p.held(); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// Next returns the next batch of timers, or none at the end.
func (n *Snapshot) Next() (some []state.Timer) {
	for more := true; more && len(some) == 0; {
		n.of.mu.Lock()
		more = n.in.Take(scanBatch, func(t state.Timer) { some = append(some, t) })
		n.of.mu.Unlock()
	}
	return some
}

// Close releases the snapshot.
func (n *Snapshot) Close() {
	n.of.mu.Lock()
	n.in.Close()
	n.of.mu.Unlock()
}

// Export calls f for all timers as they are at the moment of the call, until f returns an error.
func (p *Partition) Export(f func(state.Timer) error) error {
	n, err := p.Snapshot()
	if err != nil {
		return err
	}
	defer n.Close()
	for some := n.Next(); len(some) > 0; some = n.Next() {
		for _, t := range some {
			if err := f(t); err != nil {
				return err
			}
		}
	}
	return nil
}
