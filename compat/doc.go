// Package compat has the TimingWheel and the Cache of go-zero's core/collection, built
// on a hierarchical timing wheel. It has the names, signatures and argument checks of
// go-zero, without its bugs. To migrate, change the import path, and import the package
// as collection if you like.
//
// A wheel of NewTimingWheel runs in real time and keeps each deadline exactly, also one
// below the interval. A wheel of NewTimingWheelWithTicker takes its time from the ticker:
// each tick is one interval, and no timer fires between two ticks, except that a move to
// less than the interval runs the task at once.
//
// In tests, use NewTimingWheelWithClock with a *clock.Mock rather than a ticker of your
// own: tasks run inside the call that moves the clock, and Drain calls its function
// itself, so a test does not have to wait.
//
// All methods may be called concurrently, also inside tasks. Most wait only for a lock.
// The exceptions are Shutdown, which waits for tasks; Drain on a mock, which calls its
// function; Cache.Take, which calls a function or waits for a concurrent call of it; and
// calls on a wheel with a ticker other than Stop, which wait until the ticks received
// before the call are counted.
//
// SetTimer, MoveTimer and RemoveTimer cost some 60 ns each, however many timers are
// pending. Setting a timer does not allocate, apart from converting its arguments to any.
// Setting one value of a Cache and getting another cost 200 ns together. On a wheel with
// a ticker, a call costs 0.85 µs.
//
// docs/migrating-from-go-zero.md lists what differs from go-zero, and why.
package compat
