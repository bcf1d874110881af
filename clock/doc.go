// Package clock tells a timing wheel what time it is and wakes it up.
//
// A Clock is as small as its one user needs: a wall clock to answer with, a
// monotonic time that deadlines are counted in, and alarms. The clocks are
//
//   - System: the runtime's own timers, right in testing/synctest bubbles too;
//   - Precise: the default of every wheel, tens of microseconds late
//     where System is up to a millisecond late;
//   - Spinning: Precise for those who pay a processor's time to be about a
//     microsecond late;
//   - Wrap: any clock of github.com/benbjohnson/clock, its mock included;
//   - Mock: deterministic time for tests and simulations, which moves when you
//     say so and never sleeps.
//
// The package knows nothing of timers or wheels: to a clock, a wheel is a
// function to call at a time, and to a Mock also a Stepped, which it can ask
// what comes next.
package clock
