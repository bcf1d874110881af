// Package clock provides the time to a timing wheel and wakes it up.
//
// A Clock has a wall time, a monotonic time in which deadlines are counted, and alarms. The clocks are
//
//   - System: the runtime's own timers, which also work in testing/synctest bubbles;
//   - Precise: the default of every wheel, tens of microseconds late
//     where System is up to a millisecond late;
//   - Spinning: like Precise, but about a microsecond late, for more CPU time;
//   - Wrap: any clock of github.com/benbjohnson/clock, including its mock;
//   - Mock: deterministic time for tests and simulations, which moves only when
//     you move it and never sleeps.
//
// The package knows nothing of timers or wheels. To a clock, a wheel is a function to call at a time. A Mock also
// obtains the nearest deadline from the wheels of package hierarchy.
package clock
