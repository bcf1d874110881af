// Package compat is the timing wheel of go-zero's core/collection, and the Cache
// that goes with it, on a hierarchical wheel: the same names, signatures and
// verdicts on arguments, without the faults. To change over, change the import
// path; import it as collection if you like.
//
// Two kinds of wheel differ in what time is to them. That of NewTimingWheel keeps
// every deadline as it was asked for, below the interval too. That of
// NewTimingWheelWithTicker knows no other time than its ticker's: each tick
// received is one interval, and nothing happens between two ticks, but for a move
// below the interval, which runs at once.
//
// In tests, NewTimingWheelWithClock with a *clock.Mock is better than a ticker of
// one's own: tasks run inside the call that moves the clock.
//
// All methods may be called concurrently, also inside tasks, and wait for nothing but
// a lock. SetTimer, MoveTimer and RemoveTimer cost some 60 ns each whatever is pending,
// and setting allocates nothing but what its arguments do; a value of the Cache set and
// another got cost 200 ns. On a wheel with a ticker they cost 0.85 µs, as they wait until
// the ticks received so far are counted.
//
// What behaves otherwise than in go-zero, and why, is listed in
// docs/migrating-from-go-zero.md.
package compat
