// Package time has every exported name of the standard library's package time. Its functions of AfterFunc are called by a
// timing wheel, and in an idle process its timers are more exact. To use it, change an import and nothing else:
//
//	import "github.com/epicycle-go/epicycle/compat/time"
//
// Types, constants, variables and functions are those of package time. So a time.Time, a time.Duration or a
// *time.Location is the same type in both packages. The exceptions are Timer, Ticker, NewTimer, NewTicker, AfterFunc,
// After and Sleep.
//
// AfterFunc sets a timer on one wheel of the process, which costs less than a timer of package time where there are many.
// The wheel is made when it is first needed, with the default Config, and is never stopped. The function Wheel returns its
// figures. The contexts of compat/context are on the same wheel.
//
// What has a channel, and what sleeps, is the runtime's own, since only the runtime can make a channel that is lazy, and
// collect a timer that nobody refers to. On Linux, where the runtime's timers are up to a millisecond late in an idle
// process, these are as exact as those of the wheel: the process is woken when one is due. The process is not woken for
// timers and periods of more than a second, for more than 64 Tickers, for a tick less than a quarter of a millisecond after
// another, and for 34 ms after more than four timers were set that are due within a millisecond. These are
// as late as those of package time.
//
// # What is different
//
//   - *Timer and *Ticker are not the types of package time, so functions of other packages that take a *time.Timer or
//     *time.Ticker do not take them.
//   - A Timer of AfterFunc is held until it fires or is stopped. Where more than four are due within a millisecond, they
//     fire together, and one may be up to a millisecond late.
//   - A Ticker of up to a second wakes an idle process for each tick until it is stopped, also if nobody waits for it, and a
//     Timer does so once. Package time's wake it only while a goroutine waits for the channel.
//   - Assigning to Local does not change time.Local, and assigning to time.Local does not change Local.
//
// In a testing/synctest bubble, all timers, tickers and sleepers are from package time, so bubbles work as usual.
package time

//go:generate go run ../internal/forward
