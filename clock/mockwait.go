package clock

import (
	"context"
	"fmt"
	"time"
)

// WaitFor waits until at least n timers are pending on the wheels of this clock. It is for code under test that sets
// its timers in goroutines: call WaitFor, then Add. If ctx ends first, the error wraps the error of ctx, and says how
// many timers are pending and when the nearest is due.
func (m *Mock) WaitFor(ctx context.Context, n int) error {
	return m.waitUntil(ctx, nil, func() bool { return m.pending() >= n })
}

// WaitNext waits until the nearest deadline is exactly d ahead. It is for code under test that moves or stops timers in
// goroutines, so that their number is no criterion. It checks whenever a timer is set or moved, and every millisecond,
// because it is not notified when a timer is stopped or the clock is moved. If ctx ends first, WaitNext returns an
// error as WaitFor does.
func (m *Mock) WaitNext(ctx context.Context, d time.Duration) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	return m.waitUntil(ctx, look.C, func() bool {
		next, ok := m.Next()
		return ok && next == d
	})
}

// waitUntil waits until reached returns true. It calls reached first, then whenever a timer was set, and at each
// tick of look, which may be nil.
func (m *Mock) waitUntil(ctx context.Context, look <-chan time.Time, reached func() bool) error {
	m.requireMade()
	if ctx == nil {
		panic("clock: Mock waits with a nil context")
	}
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	for {
		changed := m.nextChange()
		if reached() {
			return nil
		}
		select {
		case <-changed:
		case <-look:
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", ctx.Err(), m.describePending())
		}
	}
}

// nextChange returns a channel that is closed when a timer is set next.
func (m *Mock) nextChange() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return m.changed
}

// describePending returns how many timers are pending, and when the nearest is due.
func (m *Mock) describePending() string {
	text, first := "no timer is pending", "an alarm is "
	switch pending := m.pending(); {
	case pending == 1:
		text, first = "1 timer is pending", ""
	case pending > 1:
		text, first = fmt.Sprintf("%d timers are pending", pending), "the nearest is "
	}
	if next, ok := m.Next(); ok { // repeaters whose function runs are pending, but have no deadline yet
		text += fmt.Sprintf(", %sdue in %v", first, next)
	}
	return text
}

// pending returns the number of timers on all wheels.
func (m *Mock) pending() int {
	n := 0
	for _, w := range m.allStepped() {
		n += w.Len()
	}
	return n
}
