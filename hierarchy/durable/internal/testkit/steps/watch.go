package steps

import (
	"fmt"
	"time"
)

// mostWork is the processor time that a history takes at most. With the race detector the longest take some 20 s.
const mostWork = time.Minute

// Watch panics if a history takes so long that it never ends: in virtual time, code that waits for nothing or for what
// never comes keeps a processor busy. What counts is the time of processors, as a machine may be busy, or stand still.
func Watch(history string) (stop func()) {
	return watch(time.Second, mostWork, func(took time.Duration) {
		panic(fmt.Sprintf("%s has taken %v of a processor, and does not end", history, took))
	})
}

func watch(every, most time.Duration, late func(took time.Duration)) (stop func()) {
	begun, over := work(), make(chan struct{})
	go func() {
		for tick := time.Tick(every); ; {
			select {
			case <-over:
				return
			case <-tick:
			}
			if took := work() - begun; took > most {
				late(took)
				return
			}
		}
	}()
	return func() { close(over) }
}
