// Package lease gives a hierarchy.Driven the API of etcd's LeaseExpiredNotifier (go.etcd.io/etcd/server/v3/lease), by
// which a lessor finds the leases that have expired.
//
// etcd's notifier has a heap and a map from lease to item. With the map it finds the item of a lease that is renewed.
// Here the lease itself keeps the Handle of its timer, so there is no map, and a lease that is revoked is removed at
// once. In etcd's heap, a revoked lease stays until it comes first.
package lease

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// ID is a lease's name.
type ID int64

// Lease is the part of a lease that a Notifier uses.
type Lease struct {
	ID     ID
	Expiry time.Time

	timer hierarchy.Handle
}

// Notifier has the methods of a LeaseExpiredNotifier. It finds out which lease has expired
// first.
type Notifier struct {
	start  time.Time
	driven hierarchy.Driven[*Lease]
	first  *Lease // lease that Peek has taken out of driven; nil if there is none
}

// NewNotifier returns a Notifier that counts its time from start, which is any time near the
// present.
func NewNotifier(start time.Time) *Notifier { return &Notifier{start: start} }

// RegisterOrUpdate registers l with its Expiry, or changes the expiry of l if it is registered.
func (n *Notifier) RegisterOrUpdate(l *Lease) {
	switch {
	case l == n.first:
		n.first = nil
	case n.first != nil && l.Expiry.Before(n.first.Expiry):
		n.set(n.first)
		n.first = nil
	}
	n.set(l)
}

func (n *Notifier) set(l *Lease) {
	due := l.Expiry.Sub(n.start)
	if !n.driven.Move(l.timer, due) {
		l.timer = n.driven.Set(l, due)
	}
}

// Peek returns the lease that has expired first, or nil if none has expired at now. etcd's Peek does not need the time:
// a heap can show its first entry at any time, and the caller checks whether that has expired.
func (n *Notifier) Peek(now time.Time) *Lease {
	if n.first == nil {
		for l := range n.driven.Expire(now.Sub(n.start)) {
			n.first = l
			break
		}
	}
	return n.first
}

// Unregister removes and returns the lease that Peek returns. Peek must not return nil.
func (n *Notifier) Unregister() *Lease {
	l := n.first
	n.first = nil
	return l
}

// Remove removes l if it is registered. etcd has no such method: a lease that was revoked is
// unregistered when it comes first.
func (n *Notifier) Remove(l *Lease) {
	if l == n.first {
		n.first = nil
		return
	}
	n.driven.Remove(l.timer)
}

// Len returns the number of leases that are registered.
func (n *Notifier) Len() int {
	if n.first != nil {
		return n.driven.Len() + 1
	}
	return n.driven.Len()
}
