package partition

import (
	"container/heap"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Lookup returns the timer of a key, dead or not.
func (p *Partition) Lookup(key []byte) (t state.Timer, ok bool, err error) {
	p.mu.Lock()
	_, ref, ok := p.state.Find(key)
	if ok {
		t = p.state.Listed(ref)
	}
	p.mu.Unlock()
	return t, ok, p.held()
}

// Query selects the timers that List returns: of those that match, the first ones in the order of their keys.
type Query struct {
	Prefix, After          string // if After is "", all keys qualify, even the empty key
	Limit                  int
	Waiting, Running, Dead bool
}

// Wants reports whether a timer matches the query, regardless of Limit.
func (q *Query) Wants(t *state.Timer) bool {
	if q.After != "" && t.Key <= q.After || !strings.HasPrefix(t.Key, q.Prefix) {
		return false
	}
	switch {
	case t.Dead:
		return q.Dead
	case t.Running:
		return q.Running
	}
	return q.Waiting
}

// List adds to found the partition's timers that are among the first ones of the query. It looks at all timers, a batch
// at a time.
func (p *Partition) List(q *Query, found *Found) error {
	scan(&p.mu, p.state, func(_ state.Ref, t state.Timer) { found.Add(q, &t) }, func() bool { return true })
	return p.held()
}

// Found holds the first timers of a query. It implements heap.Interface, with the last key on top.
type Found []state.Timer

// Add adds a timer if it is one of the first ones that match.
func (f *Found) Add(q *Query, t *state.Timer) {
	switch {
	case !q.Wants(t):
	case len(*f) < q.Limit:
		heap.Push(f, *t)
	case t.Key < (*f)[0].Key:
		(*f)[0] = *t
		heap.Fix(f, 0)
	}
}

func (f Found) Len() int           { return len(f) }
func (f Found) Less(i, j int) bool { return f[i].Key > f[j].Key }
func (f Found) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }

// Push implements heap.Interface.
func (f *Found) Push(x any) { *f = append(*f, x.(state.Timer)) }

// Pop implements heap.Interface.
func (f *Found) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
