package time

import "time"

// Sleep returns after d, or at once if d <= 0.
func Sleep(d Duration) {
	if !watched() {
		time.Sleep(d)
		return
	}
	x := theirs()
	at := x.add(d)
	x.aimAt(at) // Sleep sets its timer in a moment
	time.Sleep(d)
	x.remove(at)
}

// After is [time.After].
func After(d Duration) <-chan Time { return NewTimer(d).C }
