// Package time has every exported name of the standard library's package time. Its timers,
// tickers and sleepers are on a timing wheel. To use it, change an import and nothing else:
//
//	import "github.com/epicycle-go/epicycle/compat/time"
//
// Types, constants, variables and functions are those of package time. So a time.Time, a
// time.Duration or a *time.Location is the same type in both packages. The exceptions are
// Timer, Ticker, NewTimer, NewTicker, AfterFunc and Sleep. They do what those of package time
// do, as of Go 1.23: after Stop or Reset, no value from before is received. After and Tick
// are package time's, as only the runtime can collect what they return.
//
// All timers are on one wheel of the process, with the default Config. It is made when it is
// first needed, and is never stopped. Wheel returns its figures. The contexts of
// compat/context are on the same wheel.
//
// # What is different
//
//   - A *Timer or *Ticker of this package is not one of package time, so functions of other
//     packages that take one do not take the other.
//   - The channels have a capacity of 1. So len(t.C) may be 1, and cap(t.C) is.
//   - A Timer is held until it fires or is stopped, as before Go 1.23. A Ticker is collected
//     when nobody refers to it or to its channel.
//   - Where more than four timers are due within a millisecond, they fire together, and one may
//     be up to a millisecond late. In a crowd of sleepers, those that are due within the same
//     millisecond wake together at its end. A few timers are more exact than those of package
//     time.
//   - Assigning to Local does not change time.Local, nor the other way round.
//   - GODEBUG=asynctimerchan has no effect.
//
// In a testing/synctest bubble everything is package time's, so bubbles work as usual. A Timer
// that was made outside a bubble must not be reset inside: Reset panics.
package time

//go:generate go run ../internal/forward
