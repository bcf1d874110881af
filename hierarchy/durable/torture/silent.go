//go:build linux

package main

import (
	"math/rand/v2"
	"time"
)

// remembered is how long owners remember a caller in this mode.
const remembered = 3 * time.Second

// silent has callers be silent for longer than owners remember them.
func silent() mode {
	return mode{name: "silent", says: "callers that are silent for longer than they are remembered",
		set: func(o *options, _ *rand.Rand) {
			o.Talks, o.Silence, o.Remember = 2*remembered, remembered+time.Second, remembered
		}}
}

// hush has all callers of a worker wait while it is silent.
func (w *worker) hush() {
	now := time.Duration(mono())
	if !w.cfg.Far { // else all are silent at the same time
		now += time.Duration(w.cfg.Number) * time.Second
	}
	if all := w.cfg.Talks + w.cfg.Silence; all > 0 && now%all > w.cfg.Talks {
		time.Sleep(all - now%all)
	}
}
