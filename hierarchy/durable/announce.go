package durable

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Attempt is an attempt that Begin has begun. No goroutine waits for its end: see Config.Announce.
type Attempt[K comparable, V any] struct {
	Firing[K, V]
	taken partition.Taken
}

// Begin begins an attempt of a timer that was passed to Config.Announce. ok is false if the timer was set, moved or
// removed meanwhile, or if it has an attempt already. ok is also false if this process can't begin an attempt now; the
// timer is then passed to Announce again. Begin does not wait.
func (w *Keyed[K, V]) Begin(k K, id ID) (a *Attempt[K, V], ok bool) {
	p, key := w.announcedBy(k)
	if p == nil {
		return nil, false
	}
	taken, ok := p.Begin(key, id.id)
	if !ok {
		return nil, false
	}
	a = &Attempt[K, V]{taken: taken}
	var err error
	if a.Firing, err = w.firing(&taken.Firing); err != nil { // announce has met the same error
		go a.End(context.Background(), err)
		return nil, false
	}
	return a, true
}

// Waits reports whether a timer that was passed to Config.Announce still waits for Begin in this process.
func (w *Keyed[K, V]) Waits(k K, id ID) bool {
	p, key := w.announcedBy(k)
	return p != nil && p.Waits(key, id.id)
}

// Owns reports whether this process has the partition of k at the moment: it fires the timer of k, and what other
// processes know of its attempts they know from this one.
func (w *Keyed[K, V]) Owns(k K) bool {
	p, _ := w.announcedBy(k)
	return p != nil
}

// announcedBy returns the partition of a key, or nil if this process does not own it.
func (w *Keyed[K, V]) announcedBy(k K) (*partition.Partition, []byte) {
	key, err := w.appendKey(nil, k)
	if err != nil {
		return nil, nil
	}
	if p, err := w.owners.Partition(of(key, w.owners.Len())); err == nil {
		return p, key
	}
	return nil, nil
}

// Token makes the attempt last for d from now, in whichever process its partition is. It returns the token by which
// EndAttempt ends the attempt, in this process and in others, also after a restart. Token can be called again to make
// the attempt last longer, until another process has the partition. An attempt with a token does not keep its partition
// here: at Shutdown, and when the partition is handed over, it is left to the next owner, and goes on. If it is not ended
// in time there, it has failed, and the next attempt is due. After a process was killed, or has lost its lease, the next
// owner does not know the attempt, and makes the next one at once.
func (a *Attempt[K, V]) Token(d time.Duration) Token {
	name, number := a.taken.Token(d)
	return Token{name, number}
}

// Context returns the context of the attempt. The context is done once the timer has been set, moved or removed, when
// this process gives its partition up, and after the end of the attempt. If the attempt was left to the next owner of
// the partition, the cause is ErrLeft.
func (a *Attempt[K, V]) Context() context.Context { return a.taken.Context() }

// Trace returns the trace context that is stored with the timer, which Config.Trace has returned for the call that set it,
// or nil.
func (a *Attempt[K, V]) Trace() []byte { return []byte(a.taken.Firing.Trace) }

// End ends the attempt, as a return of err from Handle does. It reports whether the end is in the log. If the timer was
// set, moved or removed meanwhile, or the attempt was ended by its Token, the end is not in the log. If the attempt was
// left to the next owner of the partition, the error is ErrLeft, and EndAttempt ends it. After other errors, the end may
// be in the log or not: the attempt has ended, and if the log does not have its end, the timer fires again. End must be
// called once, also after EndAttempt.
func (a *Attempt[K, V]) End(ctx context.Context, err error) (bool, error) {
	return a.taken.End(ctx, err)
}

// ErrLeft is the error of Attempt.End, and the cause with which Attempt.Context ends, for an attempt that was left to
// the next owner of its partition.
var ErrLeft = partition.ErrLeft

// Permanent wraps the error of an attempt that must not be tried again: the timer is dead at once. If err is nil, so is
// the result, and the attempt has not failed.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &core.Final{Err: err}
}

// RetryAfter wraps the error of an attempt. The next attempt begins after d, instead of after Config.Backoff. If err is
// nil, so is the result, and the attempt has not failed.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &core.Later{Err: err, In: d}
}

// Postpone wraps the error of an attempt that does not count, such as one that this process could not make. The attempt
// is made again after d, with the same number. If err is nil, so is the result, and the attempt has not failed.
func Postpone(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &core.Postponed{Err: err, In: d}
}
