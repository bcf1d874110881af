// Package k8s makes a wheel a clock of k8s.io/utils/clock. Libraries that take such a clock,
// client-go's work queues for example, run on the wheel unchanged: in production with its
// precision and its cost per timer, in tests on a *clock.Mock.
//
// Timers and tickers behave like the ones of RealClock, which are from package time. After Stop or Reset, no value that
// was sent before is received. A timer can be reset after it has fired. C of a timer with a function is nil. All
// methods may be called concurrently, also inside functions of timers. These things differ:
//
//   - The wheel's executor calls the functions of AfterFunc. By default each runs in its own
//     goroutine, and on a *clock.Mock inside the call that moves the clock.
//   - AfterFunc of a nil function panics at once, not when the timer fires.
//   - The wheel refers to a timer until it fires or is stopped, and to a ticker until it is
//     stopped. So it refers to the ticker of Tick until the wheel itself is stopped.
//   - The wall time is the wall time of the wheel's clock, also in the times that channels send.
//
// # Wheels that are full or stopped
//
// The interface has no errors. On a full wheel, timers and tickers take places beyond MaxPending, and the wheel's
// executor sends their times. A Sleep that began while the wheel was full does not notice that the wheel is stopped. A
// timer with a channel keeps its place until it is stopped, but few libraries stop a timer that has fired. So give
// libraries a wheel without MaxPending.
//
// When the wheel is stopped, its timers and tickers never fire, Sleep returns at once, and Now goes on. Timers and
// tickers that are set later never fire either: Stop and Reset of timers return false. Stop the libraries that use the
// clock first, and then the wheel. Otherwise a loop that only sleeps would keep a processor busy.
//
// # On a mock
//
// Timers fire only inside the calls that move the mock. A timer with a delay of zero or less fires in the next such
// call: Add(0) will do. A library that sets its timers in goroutines must have set them before a test moves the mock.
// WaitFor of the mock waits until the timers are set, and so does synctest.Wait in a testing/synctest bubble. A
// function of AfterFunc that waits for a later time needs another executor on a mock: hierarchy.Go.
package k8s
