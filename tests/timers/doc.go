// Package timers has the tests of wheels and of each kind of timer that fires once: functions, channels, values, keys,
// Idles and sleepers, and Driven. They say when it fires, what stops and resets it, how many there may be, and what is
// counted and kept in memory.
package timers
