// Package contender puts the timers of several libraries behind one interface, so that
// the same checks and benchmarks run on all of them.
package contender

import (
	"time"
)

// Timers runs functions later. Each timer has a number, which is its key in libraries
// with keys, and the index of its handle in libraries with handles. Calls for the same
// number must not be concurrent.
type Timers interface {
	// Set makes f run after d, as timer i, which must not be pending.
	Set(i int, d time.Duration, f func()) error
	// Stop stops timer i. It reports whether the timer was pending, if the library
	// reports that.
	Stop(i int) bool
	Close()
}

// Resetter is implemented by Timers that can reset pending timers. Reset reports whether
// the timer was pending, if the library reports that.
type Resetter interface {
	Reset(i int, d time.Duration) bool
}

// Drainer is implemented by Timers that can take out all timers at once. Drain passes the function of each timer to fn.
type Drainer interface {
	Drain(fn func(f func()))
}

// Counter is implemented by Timers that count their pending timers.
type Counter interface {
	Len() int
}

// KeySetter is implemented by Timers with keys of any type.
type KeySetter interface {
	SetKey(key any, d time.Duration, f func()) error
}

// Config configures Timers. A library ignores the fields for which it has no option.
type Config struct {
	Timers   int           // limit of the numbers of timers: each number is below it
	Kept     int           // timers with numbers below Kept can be stopped and reset
	Interval time.Duration // interval of a tick or of the base circle; 0 for the library's usual interval
	Slots    int           // number of slots of a ring; 0 for the library's usual number
	Recover  bool          // whether to recover panics of callbacks, if the library has that option
}

// Contender is one library, or one of its ways to run functions later.
type Contender struct {
	Name   string // name in benchmarks
	Label  string // name on pages
	Module string // path of the library's module; empty for this project and the standard library

	Ours   bool
	Fine   time.Duration // the interval to use if milliseconds matter; 0 if the library has no interval
	Tells  bool          // whether Stop and Reset report that the timer was pending
	Closes bool          // whether the contender can be closed
	Resets bool          // whether timers can be reset without risk of a deadlock
	Most   int           // the most pending timers that can be set in reasonable time; 0 for no limit

	Open func(Config) (Timers, error)
}

// Takes reports whether c can be given n pending timers in reasonable time.
func (c Contender) Takes(n int) bool { return c.Most == 0 || n <= c.Most }

// Resetter returns t as a Resetter, if timers of c can be reset safely.
func (c Contender) Resetter(t Timers) (r Resetter, ok bool) {
	if !c.Resets {
		return nil, false
	}
	r, ok = t.(Resetter)
	return r, ok
}

// million is the largest number of timers measured for libraries that set timers slowly.
const million = 1_000_000

// fine is an interval with which all rings keep up on a shared machine.
const fine = 10 * time.Millisecond

// The usual ring is the ring of go-zero's own cache.
const (
	ringInterval = time.Second
	ringSlots    = 300
)

// ring returns the interval and the slots of a ring, with usual values for zeros.
func (c Config) ring() (interval time.Duration, slots int) {
	interval, slots = ringInterval, ringSlots
	if c.Interval > 0 {
		interval = c.Interval
	}
	if c.Slots > 0 {
		slots = c.Slots
	}
	return interval, slots
}

// All are the libraries that are compared, in the order of the tables.
var All = []Contender{
	{Name: "time", Label: "time.AfterFunc", Tells: true, Resets: true, Open: openTime},
	{Name: "heap", Label: "container/heap", Tells: true, Closes: true, Resets: true, Open: openHeap},
	{Name: "wheel", Label: "Wheel", Ours: true, Fine: fine, Tells: true, Closes: true, Resets: true, Open: openWheel},
	{Name: "of", Label: "Of", Ours: true, Fine: fine, Tells: true, Closes: true, Resets: true, Open: openOf},
	{Name: "keyed", Label: "Keyed", Ours: true, Fine: fine, Tells: true, Closes: true, Resets: true, Open: openKeyed},
	{Name: "compat", Label: "compat", Ours: true, Fine: fine, Closes: true, Resets: true, Open: openCompat},
	{
		Name: "go-zero", Label: "go-zero", Module: "github.com/zeromicro/go-zero",
		Fine: fine, Closes: true, Most: million, Resets: true, Open: openGoZero,
	},
	{
		Name: "russellluo", Label: "RussellLuo", Module: "github.com/RussellLuo/timingwheel",
		Fine: time.Millisecond, Tells: true, Closes: true, Open: openRussellLuo,
	},
	{
		Name: "antlabs", Label: "antlabs wheel", Module: "github.com/antlabs/timer",
		Fine: 10 * time.Millisecond, Tells: true, Closes: true, Open: openAntlabsWheel,
	},
	{
		Name: "antlabs-heap", Label: "antlabs heap", Module: "github.com/antlabs/timer",
		Tells: true, Closes: true, Resets: true, Open: openAntlabsHeap,
	},
	{
		Name: "rfyiamcool", Label: "rfyiamcool", Module: "github.com/rfyiamcool/go-timewheel",
		Fine: fine, Closes: true, Most: million, Resets: true, Open: openRfyiamcool,
	},
	{
		Name: "ouqiang", Label: "ouqiang", Module: "github.com/ouqiang/timewheel",
		Fine: time.Second, Closes: true, Most: million, Open: openOuqiang,
	},
}

// Named returns the contender with a name. It panics if there is none.
func Named(name string) Contender {
	for _, c := range All {
		if c.Name == name {
			return c
		}
	}
	panic("contender: no contender is named " + name)
}
