package main

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/driven/lease"
)

// leaseRetry is after how long a lessor of etcd reports an expired lease again, if it has
// not been revoked by then. Here each is revoked at once.
const leaseRetry = 3 * time.Second

// heapLeases is the lessor with etcd's heap, where a lease stays until it is first.
type heapLeases struct {
	*lease.Heap
	revoked []bool
}

func openHeapLeases(n int) expirer { return heapLeases{lease.NewHeap(), make([]bool, n)} }

func (s heapLeases) set(i int, at int64)       { s.RegisterOrUpdate(lease.ID(i), time.Unix(0, at)) }
func (s heapLeases) update(i int, _, to int64) { s.RegisterOrUpdate(lease.ID(i), time.Unix(0, to)) }
func (s heapLeases) settle()                   {}
func (s heapLeases) expire(at int64) (expired int) {
	for now := time.Unix(0, at); ; {
		id, expiry, ok := s.Peek()
		switch {
		case !ok:
			return expired
		case s.revoked[id]:
			s.Unregister()
		case now.Before(expiry):
			return expired
		default:
			expired++
			s.RegisterOrUpdate(id, now.Add(leaseRetry))
			s.revoked[id] = true
		}
	}
}

// drivenLeases is the lessor with a Driven.
type drivenLeases struct {
	*lease.Notifier
	leases []lease.Lease
}

func openDrivenLeases(n int) expirer {
	return drivenLeases{lease.NewNotifier(time.Unix(0, lifeStart)), make([]lease.Lease, n)}
}

func (s drivenLeases) set(i int, at int64) {
	l := &s.leases[i]
	l.ID, l.Expiry = lease.ID(i), time.Unix(0, at)
	s.RegisterOrUpdate(l)
}

func (s drivenLeases) update(i int, _, to int64) { s.set(i, to) }
func (s drivenLeases) settle()                   {}
func (s drivenLeases) expire(at int64) (expired int) {
	now := time.Unix(0, at)
	for l := s.Peek(now); l != nil; l = s.Peek(now) {
		expired++
		l.Expiry = now.Add(leaseRetry)
		s.RegisterOrUpdate(l)
		s.Remove(l) // it is revoked
	}
	return expired
}

var leaseImpls = []struct {
	name string
	open func(n int) expirer
}{{"etcd", openHeapLeases}, {"driven", openDrivenLeases}}

// BenchmarkLeaseLife grants n leases, renews each once and finds those that have expired,
// twice a second as etcd does.
func BenchmarkLeaseLife(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, s := range leaseImpls {
			sub(b, s.name, n, func(b *testing.B) {
				benchmarkLife(b, livesAnywhere(n), time.Second/2, func() expirer { return s.open(n) })
			})
		}
	}
}

// BenchmarkLeaseRenew renews a random one of n leases.
func BenchmarkLeaseRenew(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		l := livesAnywhere(n)
		for _, s := range leaseImpls {
			sub(b, s.name, n, func(b *testing.B) { benchmarkUpdate(b, l, s.open(n)) })
		}
	}
}
