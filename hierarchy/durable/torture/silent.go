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
		set: func(o *options, _ *rand.Rand) { o.Silent, o.Remember = true, remembered }}
}

// hush has all callers of a worker wait while it is silent: for longer than it is remembered, after as long
// and some more of calls.
func (w *worker) hush() {
	if !w.cfg.Silent {
		return
	}
	const talks, silence = 2 * remembered, remembered + time.Second
	at := time.Duration(mono()+int64(w.cfg.Number)*int64(time.Second)) % (talks + silence)
	if at > talks {
		time.Sleep(talks + silence - at)
	}
}
