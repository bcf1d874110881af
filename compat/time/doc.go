// Package time has every exported name of the standard library's package time. Its timers,
// tickers and sleepers are on a timing wheel. To use it, change an import and nothing else:
//
//	import "github.com/epicycle-go/epicycle/compat/time"
//
// Types, constants, variables and functions are those of package time. So a time.Time, a time.Duration or a
// *time.Location is the same type in both packages. The exceptions are Timer, Ticker, NewTimer, NewTicker, AfterFunc
// and Sleep. These do what the same names of package time do, as of Go 1.23: after Stop or Reset, no value that was
// sent before is received. After and Tick call package time, as only the runtime can collect the timer of a channel
// that nobody refers to.
//
// All timers are on one wheel of the process, with the default Config. The wheel is made when it is first needed, and
// is never stopped. The function Wheel returns its figures. The contexts of compat/context are on the same wheel.
//
// # What is different
//
//   - *Timer and *Ticker are not the types of package time, so functions of other packages that take a *time.Timer or
//     *time.Ticker do not take them.
//   - The channels have a capacity of 1. So cap(t.C) is 1, and len(t.C) may be 1.
//   - A Timer is held until it fires or is stopped, as before Go 1.23. A Ticker is collected
//     when nobody refers to it or to its channel.
//   - Where more than four timers are due within a millisecond, they fire together, and one may be up to a millisecond
//     late. In a crowd of sleepers, all that are due within the same millisecond wake together at the end of it. Where
//     only a few timers are due, they are more exact than timers of package time.
//   - Assigning to Local does not change time.Local, and assigning to time.Local does not change Local.
//   - GODEBUG=asynctimerchan has no effect.
//
// In a testing/synctest bubble, all timers, tickers and sleepers are from package time, so bubbles work as usual. A
// Timer that was made outside a bubble must not be reset inside a bubble: Reset panics.
package time

//go:generate go run ../internal/forward
