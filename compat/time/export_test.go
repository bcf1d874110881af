package time

// ForgetCrowds makes the next sleepers no crowd.
func ForgetCrowds() {
	lastCrowd.Store(0)
}

// Window is how much later than due a sleeper of a crowd may be woken.
const Window = window

// Sharing is how many goroutines share a timer with others, and how many timers they share.
func Sharing() (goroutines, timers int) {
	for i := range groups {
		g := &groups[i]
		g.mu.Lock()
		if g.awake != nil {
			goroutines += g.n
			timers++
		}
		g.mu.Unlock()
	}
	return goroutines, timers
}
