package time

import "time"

// Sleep returns after d, or at once if d <= 0.
func Sleep(d Duration) {
	if x := here(); x != nil {
		x.sleep(d, time.Sleep)
	} else {
		time.Sleep(d)
	}
}

// sleep is Sleep, by a function that sets the runtime's timer when it is called. Aiming may take a while, which is not
// slept again: the process is woken for the time that was aimed at.
func (x *instants) sleep(d Duration, sleep func(Duration)) {
	at := x.add(d)
	if at == 0 {
		sleep(d)
		return
	}
	x.aimAt(at)
	sleep(at - x.clock.Elapsed())
	x.remove(at)
}

// After is [time.After].
func After(d Duration) <-chan Time { return NewTimer(d).C }
