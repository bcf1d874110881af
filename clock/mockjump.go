package clock

import "slices"

// OnJump has f called after each Jump of the Mock, in the goroutine that calls Jump. An owner
// whose timers go by the wall clock aims the alarm anew there. A nil f ends that.
func (a *MockAlarm) OnJump(f func()) {
	m := a.mock
	m.mu.Lock()
	defer m.mu.Unlock()
	a.jumped = f
	m.onJump = slices.DeleteFunc(m.onJump, func(b *MockAlarm) bool { return a == b })
	if f != nil {
		m.onJump = append(m.onJump, a)
	}
}

// tellJump calls the functions of OnJump, in the order in which they were passed.
func (m *Mock) tellJump() {
	m.mu.Lock()
	var calls []func()
	for _, a := range m.onJump {
		calls = append(calls, a.jumped)
	}
	m.mu.Unlock()
	for _, f := range calls {
		f()
	}
}
