package lease

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// retry is how long a lessor waits for an expired lease to be revoked, before it reports it
// again.
const retry = 3 * time.Second

// lessor does with a queue what etcd's does.
type lessor struct {
	queue  queueOfLessor
	leases map[ID]*Lease
	now    time.Time
	found  int
}

type queueOfLessor interface {
	registerOrUpdate(l *Lease)
	// peek returns the first lease and whether it has expired.
	peek(now time.Time) (id ID, expired, ok bool)
	unregister() ID
	revoked(l *Lease)
	len() int
}

type heapQueue struct{ *Heap }

func (q heapQueue) registerOrUpdate(l *Lease) { q.RegisterOrUpdate(l.ID, l.Expiry) }
func (q heapQueue) unregister() ID            { return q.Unregister() }
func (q heapQueue) revoked(*Lease)            {}
func (q heapQueue) len() int                  { return q.Len() }
func (q heapQueue) peek(now time.Time) (id ID, expired, ok bool) {
	id, expiry, ok := q.Peek()
	return id, !now.Before(expiry), ok
}

type drivenQueue struct{ *Notifier }

func (q drivenQueue) registerOrUpdate(l *Lease) { q.RegisterOrUpdate(l) }
func (q drivenQueue) unregister() ID            { return q.Unregister().ID }
func (q drivenQueue) revoked(l *Lease)          { q.Remove(l) }
func (q drivenQueue) len() int                  { return q.Len() }
func (q drivenQueue) peek(now time.Time) (id ID, expired, ok bool) {
	if l := q.Peek(now); l != nil {
		return l.ID, true, true
	}
	return 0, false, false
}

func (s *lessor) grant(id ID, ttl time.Duration) {
	l := &Lease{ID: id, Expiry: s.now.Add(ttl)}
	s.leases[id] = l
	s.queue.registerOrUpdate(l)
}

func (s *lessor) renew(id ID, ttl time.Duration) {
	if l := s.leases[id]; l != nil {
		l.Expiry = s.now.Add(ttl)
		s.queue.registerOrUpdate(l)
	}
}

func (s *lessor) revoke(id ID) {
	if l := s.leases[id]; l != nil {
		delete(s.leases, id)
		s.queue.revoked(l)
	}
}

// findExpired returns leases that have expired, and reports them again after a time. No two
// of them get the same time, as a heap orders them as it likes.
func (s *lessor) findExpired(limit int) (found []ID) {
	for len(found) < limit {
		id, expired, ok := s.queue.peek(s.now)
		switch l := s.leases[id]; {
		case !ok:
			return found
		case l == nil: // it was revoked
			s.queue.unregister()
		case !expired:
			return found
		default:
			s.found++
			l.Expiry = s.now.Add(retry + time.Duration(s.found))
			s.queue.registerOrUpdate(l)
			found = append(found, id)
		}
	}
	return found
}

// TestLikeEtcd runs the same random calls on two lessors.
func TestLikeEtcd(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		ours := &lessor{queue: drivenQueue{NewNotifier(start)}, leases: map[ID]*Lease{}, now: start}
		theirs := &lessor{queue: heapQueue{NewHeap()}, leases: map[ID]*Lease{}, now: start}
		both := func(f func(s *lessor)) { f(ours); f(theirs) }
		reported := map[ID]bool{}
		for i := range 1000 {
			id, ttl := ID(r.IntN(i/2+1)), time.Duration(r.Int64N(int64(time.Minute)))
			switch r.IntN(8) {
			case 0, 1, 2:
				both(func(s *lessor) { s.grant(ID(i), ttl) })
			case 3, 4:
				both(func(s *lessor) { s.renew(id, ttl) })
			case 5:
				both(func(s *lessor) { s.revoke(id) })
			case 6:
				both(func(s *lessor) { s.now = s.now.Add(ttl / 16) })
			case 7:
				limit := 1 + r.IntN(10)
				found := ours.findExpired(limit)
				require.Equal(t, theirs.findExpired(limit), found)
				for _, id := range found {
					if reported[id] || r.IntN(2) == 0 {
						both(func(s *lessor) { s.revoke(id) })
					}
					reported[id] = true
				}
			}
			require.Equal(t, len(ours.leases), ours.queue.len())
			require.LessOrEqual(t, len(theirs.leases), theirs.queue.len())
		}
		require.NotEmpty(t, reported)
	}
}

// TestPeekHolds checks that the lease that Peek has returned stays the first, unless one
// comes that is earlier.
func TestPeekHolds(t *testing.T) {
	start := time.Now()
	n := NewNotifier(start)
	one, two := &Lease{ID: 1, Expiry: start.Add(5)}, &Lease{ID: 2, Expiry: start.Add(4)}
	require.Nil(t, n.Peek(start))
	n.RegisterOrUpdate(one)
	require.Nil(t, n.Peek(start.Add(4)))
	require.Same(t, one, n.Peek(start.Add(5)))
	require.Same(t, one, n.Peek(start.Add(5)))
	require.Equal(t, 1, n.Len())
	n.RegisterOrUpdate(two)
	require.Same(t, two, n.Peek(start.Add(5)))
	require.Equal(t, 2, n.Len())
	n.Remove(two)
	require.Same(t, one, n.Peek(start.Add(5)))
	require.Same(t, one, n.Unregister())
	require.Nil(t, n.Peek(start.Add(5)))
	require.Zero(t, n.Len())
}
