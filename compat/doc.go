// Package compat has the TimingWheel of go-zero's core/collection, and the Cache that
// belongs to it, built on a hierarchical timing wheel. Names, signatures and checks of
// arguments are those of go-zero; its faults are not there. To migrate, change the
// import path, and import the package as collection if you like.
//
// A wheel of NewTimingWheel runs in real time and keeps each deadline as it was asked
// for, also below the interval. A wheel of NewTimingWheelWithTicker takes its time from
// the ticker: each tick is one interval, and nothing happens between two ticks, except
// that a move below the interval runs the task at once.
//
// In tests, use NewTimingWheelWithClock with a *clock.Mock rather than a ticker of your
// own: tasks run inside the call that moves the clock, and Drain calls its function
// itself, so that there is nothing to wait for.
//
// All methods may be called concurrently, also inside tasks. Most wait for nothing but a
// lock. The exceptions are Shutdown, which waits for tasks, Drain on a mock, and
// Cache.Take, which calls a function or waits for a concurrent call of it.
//
// SetTimer, MoveTimer and RemoveTimer cost some 60 ns each, however many timers are
// pending, and setting allocates nothing but what converting its arguments to any does.
// Setting a value of a Cache and getting another cost 200 ns together. On a wheel with a
// ticker, calls cost 0.85 µs, as each waits until the ticks received so far are counted.
//
// docs/migrating-from-go-zero.md lists what differs from go-zero, and why.
package compat
