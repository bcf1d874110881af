package member

import "time"

var started = time.Now()

// monotonic is the time since this process was started. On some systems it stands still while the
// machine sleeps.
func monotonic() time.Duration { return time.Since(started) }
