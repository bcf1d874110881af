package time

// Sleepers is how many goroutines have called Sleep, which has not returned.
func Sleepers() int { return int(sleeping.Load()) }

// Sharing is how many goroutines share a timer with others, and how many timers they share.
func Sharing() (goroutines, timers int) {
	for i := range dormitories {
		h := &dormitories[i]
		h.mu.Lock()
		if h.door != nil {
			goroutines += h.n
			timers++
		}
		h.mu.Unlock()
	}
	return goroutines, timers
}
