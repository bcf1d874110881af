// Package callbacks has the tests of how the functions of timers are called: by which executor and in which goroutine,
// at once if they are due when they are set, and without harm to other timers, whatever they do, as panic, exit their
// goroutine, or never return.
package callbacks
