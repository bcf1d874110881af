// Package clockwork makes a wheel a clock of github.com/jonboulle/clockwork. Libraries that
// take such a clock, gocron for example, run on the wheel unchanged: in production with its
// precision and its cost per timer, in tests on a *clock.Mock.
//
// Timers and tickers do what those of clockwork's real clock do, which are package time's:
// after Stop or Reset, nothing is received from before, and a timer can be reset after it has
// fired. Chan of a timer with a function is nil. All methods may be called concurrently, also
// inside functions of timers. These things differ:
//
//   - The wheel's executor calls the functions of AfterFunc. By default each runs in its own
//     goroutine, and on a *clock.Mock inside the call that moves the clock.
//   - AfterFunc of a nil function panics, and not only when the timer fires.
//   - The wheel refers to a timer until it fires or is stopped, and to a ticker until it is
//     stopped.
//   - The wall time is that of the wheel's clock. So are the times that channels send.
//
// # Wheels that are full or stopped
//
// The interface has no errors. On a full wheel, timers and tickers take places beyond
// MaxPending, and the wheel's executor sends their times. A Sleep that began while the wheel
// was full does not notice that the wheel is stopped. A timer with a channel has its place
// until it is stopped, which few libraries do once it has fired. So give libraries a wheel
// without MaxPending.
//
// When the wheel is stopped, its timers and tickers never fire, Sleep returns at once, and
// Now goes on. The same holds for what is set later: Stop and Reset of timers return false.
// Stop what uses the clock first, and then the wheel. A loop that only sleeps would never
// rest.
//
// # On a mock
//
// Timers fire only inside the calls that move the mock, those with a delay of zero or less in
// the next one: Add(0) will do. A library that sets its timers in goroutines must have set
// them before a test moves the mock. WaitFor of the mock waits for that, and in a
// testing/synctest bubble synctest.Wait does. A function of AfterFunc that waits for a later
// time needs another executor on a mock: hierarchy.Go.
//
// WithTimeout and WithDeadline of clockwork take the time of package time with all clocks but
// clockwork's own FakeClock. Use those of the wheel.
package clockwork
