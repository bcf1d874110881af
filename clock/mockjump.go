package clock

import "slices"

// OnJump registers f to be called after each Jump of the Mock, in the goroutine that calls Jump. f replaces the
// function of an earlier call. A nil f removes that function.
func (a *mockAlarm) OnJump(f func()) {
	m := a.mock
	m.mu.Lock()
	defer m.mu.Unlock()
	a.jumped = f
	m.onJump = slices.DeleteFunc(m.onJump, func(b *mockAlarm) bool { return a == b })
	if f != nil {
		m.onJump = append(m.onJump, a)
	}
}

// tellJump calls the functions passed to OnJump, in the order in which they were passed.
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
