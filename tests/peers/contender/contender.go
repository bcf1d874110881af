// Package contender gives the timers of several libraries one face, so that the
// same checks and the same benchmarks run on all of them.
package contender

import (
	"time"
)

// Timers run functions later. They are numbered: the number is the key where
// timers have keys, and tells where the handle is kept where they have handles.
// Calls for the same number must not be concurrent.
type Timers interface {
	// Set has f run after d, as timer i, which is not pending.
	Set(i int, d time.Duration, f func()) error
	// Stop has timer i not run, and says whether it was pending, if the library
	// tells that.
	Stop(i int) bool
	Close()
}

// Resetter is Timers that can be reset while they are pending. It says whether
// it was, if the library tells that.
type Resetter interface {
	Reset(i int, d time.Duration) bool
}

// Drainer is Timers that can all be taken out at once. The function of each is
// given to fn.
type Drainer interface {
	Drain(fn func(f func()))
}

// Counter is Timers that know how many are pending.
type Counter interface {
	Len() int
}

// KeySetter is Timers whose keys are of any type.
type KeySetter interface {
	SetKey(key any, d time.Duration, f func()) error
}

// Config is what Timers are opened with. A library takes of it what it has.
type Config struct {
	Timers   int           // numbers are below this
	Kept     int           // timers of numbers below this can be stopped and reset
	Interval time.Duration // of a tick, or of the base circle; 0 stands for a usual one
	Slots    int           // of a ring; 0 stands for a usual number
	Recover  bool          // panics of callbacks, where that is an option
}

// Contender is one way to have functions run later.
type Contender struct {
	Name   string // as benchmarks have it
	Label  string // as pages have it
	Module string // its module's path, if it is neither ours nor Go's

	Ours   bool
	Fine   time.Duration // the interval to take if timers of milliseconds matter; 0 if it has none
	Tells  bool          // Stop and Reset say whether the timer was pending
	Closes bool          // it can be closed
	Resets bool          // its timers can be reset, and that can't wait for itself for ever
	Most   int           // how many pending timers it can be given within reason; 0 if any number

	Open func(Config) (Timers, error)
}

// Takes tells whether n pending timers are within reason.
func (c Contender) Takes(n int) bool { return c.Most == 0 || n <= c.Most }

// Resetter is what resets timers of c, if that is safe.
func (c Contender) Resetter(t Timers) (r Resetter, ok bool) {
	if !c.Resets {
		return nil, false
	}
	r, ok = t.(Resetter)
	return r, ok
}

// million is as many as is measured of those who are slow to set that many.
const million = 1_000_000

// fine is an interval that all rings can keep on a machine that is shared.
const fine = 10 * time.Millisecond

// The usual ring is that of go-zero's own cache.
const (
	ringInterval = time.Second
	ringSlots    = 300
)

// ring has the usual values for what is not given.
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

// All are those that are compared, in the order of tables.
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

// Named is the one of that name. There must be one.
func Named(name string) Contender {
	for _, c := range All {
		if c.Name == name {
			return c
		}
	}
	panic("contender: there is no " + name)
}
