package timers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

func TestNilContexts(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{})
	f, err := w.NewFunc(nop)
	require.NoError(t, err)
	of, err := hierarchy.NewOf(hierarchy.Config{}, func(int) {})
	require.NoError(t, err)
	defer of.Stop()
	var none context.Context
	for _, call := range []struct {
		method string
		call   func() error
	}{
		{"Sleep", func() error { return w.Sleep(none, time.Second) }},
		{"StopWait", func() error { return f.StopWait(none) }},
		{"Shutdown", func() error { return w.Shutdown(none) }},
		{"Shutdown", func() error { return of.Shutdown(none) }},
	} {
		require.PanicsWithValue(t, "hierarchy: "+call.method+" with a nil context", func() { _ = call.call() })
	}
	wheeltest.Set(t, w, time.Hour, nop) // Shutdown has not stopped it
	_, err = of.Set(1, time.Hour)
	require.NoError(t, err)
}

// Every method of a value that was not made by its constructor panics with the package's
// name.
func TestWhatWasNotMadePanics(t *testing.T) {
	var w hierarchy.Wheel
	var of hierarchy.Of[int]
	var keyed hierarchy.Keyed[int, int]
	for name, f := range map[string]func(){
		"AfterFunc":    func() { _, _ = w.AfterFunc(1, nop) },
		"At":           func() { _, _ = w.At(time.Now(), nop) },
		"Every":        func() { _, _ = w.Every(1, nop) },
		"Schedule":     func() { _, _ = w.Schedule(wheeltest.Planned(nil), nop) },
		"After":        func() { _, _ = w.After(1) },
		"NewTimer":     func() { _, _ = w.NewTimer(1) },
		"NewTicker":    func() { _, _ = w.NewTicker(1) },
		"Sleep":        func() { _ = w.Sleep(t.Context(), 1) },
		"WithTimeout":  func() { _, cancel := w.WithTimeout(t.Context(), 1); cancel() },
		"WithDeadline": func() { _, cancel := w.WithDeadline(t.Context(), time.Now()); cancel() },
		"Len":          func() { w.Len() },
		"Stats":        func() { w.Stats() },
		"Circles":      func() { w.Circles() },
		"Stop":         func() { w.Stop() },
		"Shutdown":     func() { _ = w.Shutdown(t.Context()) },

		"Of.Set":      func() { _, _ = of.Set(1, 1) },
		"Of.Drain":    func() { of.Drain(nil) },
		"Of.Len":      func() { of.Len() },
		"Of.Stats":    func() { of.Stats() },
		"Of.Circles":  func() { of.Circles() },
		"Of.Stop":     func() { of.Stop() },
		"Of.Shutdown": func() { _ = of.Shutdown(t.Context()) },

		"Keyed.Set":      func() { _ = keyed.Set(1, 1, 1) },
		"Keyed.Swap":     func() { _, _, _ = keyed.Swap(1, 1, 1) },
		"Keyed.Move":     func() { _, _ = keyed.Move(1, 1) },
		"Keyed.Remove":   func() { keyed.Remove(1) },
		"Keyed.Get":      func() { keyed.Get(1) },
		"Keyed.Value":    func() { keyed.Value(1) },
		"Keyed.Drain":    func() { keyed.Drain(nil) },
		"Keyed.Len":      func() { keyed.Len() },
		"Keyed.Stats":    func() { keyed.Stats() },
		"Keyed.Circles":  func() { keyed.Circles() },
		"Keyed.Stop":     func() { keyed.Stop() },
		"Keyed.Shutdown": func() { _ = keyed.Shutdown(t.Context()) },

		"Repeater.Stop":   func() { new(hierarchy.Repeater).Stop() },
		"Repeater.Reset":  func() { new(hierarchy.Repeater).Reset(1) },
		"Ticker.Stop":     func() { new(hierarchy.Ticker).Stop() },
		"Ticker.Reset":    func() { new(hierarchy.Ticker).Reset(1) },
		"ChanTimer.Stop":  func() { new(hierarchy.ChanTimer).Stop() },
		"ChanTimer.Reset": func() { new(hierarchy.ChanTimer).Reset(1) },
	} {
		func() {
			defer func() {
				require.Contains(t, fmt.Sprint(recover()), "hierarchy: ", name)
			}()
			f()
			require.Fail(t, "no panic", name)
		}()
	}
}

func TestZeroFuncTimerAndIdle(t *testing.T) {
	var timer hierarchy.FuncTimer
	var idle hierarchy.Idle
	for name, call := range map[string]func(){
		"zero FuncTimer": func() { timer.Reset(1) }, "a zero FuncTimer": func() { timer.Stop() },
		" zero FuncTimer": func() { _ = timer.StopWait(t.Context()) },
		"zero Idle":       func() { idle.Touch() }, "a zero Idle": func() { idle.Stop() },
	} {
		func() {
			defer func() { require.Contains(t, recover(), name) }()
			call()
		}()
	}
}

func TestNowOfAZeroWheel(t *testing.T) {
	require.PanicsWithValue(t, "hierarchy: method called on a zero wheel: use its constructor",
		func() { new(hierarchy.Wheel).Now() })
}
