package cores

import (
	"fmt"
	"math/rand/v2"
)

// What the state has of a timer in addition: its trace context, and why its last attempt has failed.

// processEnded is why attempts have failed that were in progress when their process ended.
const processEnded = "the process ended during the attempt"

// someTrace returns the trace context of a call, which may have none.
func someTrace(r *rand.Rand) []byte {
	if r.IntN(4) > 0 {
		return nil
	}
	return fmt.Append(nil, "trace ", r.IntN(100))
}

// why records why an attempt has failed, unless it does not count. One that counts ends a run of debounced calls.
func (m *model) why(e *entry, r *result) {
	if !r.again {
		e.LastError, e.Failed = r.text, m.time
	}
	if e.attempt > 0 {
		e.Debounced, e.Since = false, 0
	}
}
