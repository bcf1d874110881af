//go:build linux

package main

// muteUser may do all but write to the logs.
const muteUser = "mute"

// mute has a worker share the timers that may not write to the logs. It fires nothing, and holds nothing up.
func mute() mode {
	return mode{name: "mute", says: "a worker without the right to publish to the logs", calm: true, during: func(w *world) (end func()) {
		return w.visits(visitor{user: muteUser}).gone
	}}
}
