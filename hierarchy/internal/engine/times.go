package engine

import (
	"math"
	"sync/atomic"
	"time"
)

// EndOfTime is the last time of a wheel. Times inside a wheel are nanoseconds of its clock's elapsed time, from 0 to
// EndOfTime. A deadline may be any of them.
const EndOfTime int64 = math.MaxInt64 // 292 years

// DeadlineAfter returns now + d, or EndOfTime on overflow. If d is 0 or negative, it returns now.
func DeadlineAfter(now int64, d time.Duration) int64 {
	if d <= 0 {
		return now
	}
	if t := now + int64(d); t >= now {
		return t
	}
	return EndOfTime
}

// bound is a time or none, which compares greater than every time.
type bound uint64

const none bound = math.MaxUint64

// atomicBound is a bound that is read without a lock.
type atomicBound struct{ word atomic.Uint64 }

func (a *atomicBound) load() bound   { return bound(a.word.Load()) }
func (a *atomicBound) store(b bound) { a.word.Store(uint64(b)) }
