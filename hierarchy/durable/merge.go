package durable

import (
	"container/heap"
	"context"
	"errors"
	"math"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Limits for the timers that a Scan has in memory at once.
const (
	mergeTimers = 1000
	mergeBytes  = 512 << 10
)

// merge merges the timers of all partitions that match a query. It implements heap.Interface, with the head whose first
// key is the least on top.
type merge struct {
	owners owners
	query  partition.Query // of all heads, without From
	heads  []*head         // Invariant: each has a timer
}

// head is the beginning of what is left of a partition.
type head struct {
	at   int // the number of the partition
	from string
	partition.Found
}

func newMerge(o owners, q Query, logged bool) *merge {
	m := &merge{owners: o, query: partition.Query{States: q.states(), Prefix: q.Prefix, Logged: logged}}
	m.heads = make([]*head, o.Len())
	for at := range m.heads {
		m.heads[at] = &head{at: at}
		if q.After != "" {
			m.heads[at].from = partition.After(q.After)
		}
	}
	total := mergeTimers
	if q.Limit > 0 {
		total = min(total, q.Limit)
	}
	m.query.Limit, m.query.Bytes = share(total, len(m.heads)), mergeBytes/len(m.heads)
	return m
}

// share returns how many timers to read from each of several partitions, so that the first total ones of all are very
// likely among them. Keys are distributed by their hash, so the number from one partition has about the distribution of
// Poisson: three standard deviations more than the mean are rarely too few.
func share(total, partitions int) int {
	mean := float64(total) / float64(partitions)
	return min(total, int(math.Ceil(mean+3*math.Sqrt(mean))))
}

// begin reads the first timers of all partitions.
func (m *merge) begin(ctx context.Context) error {
	err := errors.Join(wait.All(len(m.heads), len(m.heads), func(at int) error { return m.read(ctx, m.heads[at]) })...)
	left := m.heads[:0]
	for _, h := range m.heads {
		if len(h.Timers) > 0 {
			left = append(left, h)
		}
	}
	m.heads = left
	heap.Init(m)
	return err
}

// read reads the next timers of a partition, or finds that there are none.
func (m *merge) read(ctx context.Context, h *head) (err error) {
	q := m.query
	q.From, h.More = h.from, true
	for h.More && len(h.Timers) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if h.Found, err = m.owners.List(ctx, h.at, &q); err != nil {
			return err
		}
	}
	return nil
}

// first returns the timer with the least key.
func (m *merge) first() state.Timer { return m.heads[0].Timers[0] }

// next removes the first timer, and reads others in place of the last ones of its partition.
func (m *merge) next(ctx context.Context) error {
	h := m.heads[0]
	last := h.Timers[0].Key
	h.Timers[0] = state.Timer{} // so that its memory can be released
	if h.Timers = h.Timers[1:]; len(h.Timers) == 0 && h.More {
		h.from = partition.After(last)
		if err := m.read(ctx, h); err != nil {
			return err
		}
	}
	if len(h.Timers) == 0 {
		heap.Pop(m)
	} else {
		heap.Fix(m, 0)
	}
	return nil
}

func (m *merge) Len() int           { return len(m.heads) }
func (m *merge) Less(i, j int) bool { return m.heads[i].Timers[0].Key < m.heads[j].Timers[0].Key }
func (m *merge) Swap(i, j int)      { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

// Push implements heap.Interface. It is not used.
func (m *merge) Push(any) {}

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}
