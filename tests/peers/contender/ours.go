package contender

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// hierarchical returns the configuration of a wheel of package hierarchy. Fields that c doesn't set have their
// defaults.
func (c Config) hierarchical() hierarchy.Config {
	cfg := hierarchy.Config{Interval: c.Interval}
	if c.Recover {
		cfg.OnPanic = func(any, []byte) {}
	}
	return cfg
}

// wheel is a Wheel.
type wheel struct {
	*hierarchy.Wheel
	kept []hierarchy.Timer
}

func openWheel(c Config) (Timers, error) { return OnWheel(c.hierarchical(), c.Kept) }

// OnWheel opens a Wheel with any configuration. Timers with numbers below kept can be
// stopped and reset.
func OnWheel(cfg hierarchy.Config, kept int) (Timers, error) {
	w, err := hierarchy.New(cfg)
	return &wheel{w, make([]hierarchy.Timer, kept)}, err
}

func (w *wheel) Set(i int, d time.Duration, f func()) error {
	t, err := w.AfterFunc(d, f)
	if i < len(w.kept) {
		w.kept[i] = t
	}
	return err
}

func (w *wheel) Stop(i int) bool                   { return w.kept[i].Stop() }
func (w *wheel) Reset(i int, d time.Duration) bool { return w.kept[i].Reset(d) }
func (w *wheel) Close()                            { w.Wheel.Stop() }

func call(f func()) { f() }

// of is an Of whose values are functions.
type of struct {
	*hierarchy.Of[func()]
	kept []hierarchy.Timer
}

func openOf(c Config) (Timers, error) {
	w, err := hierarchy.NewOf(c.hierarchical(), call)
	return &of{w, make([]hierarchy.Timer, c.Kept)}, err
}

func (w *of) Set(i int, d time.Duration, f func()) error {
	t, err := w.Of.Set(f, d)
	if i < len(w.kept) {
		w.kept[i] = t
	}
	return err
}

func (w *of) Stop(i int) bool                   { return w.kept[i].Stop() }
func (w *of) Reset(i int, d time.Duration) bool { return w.kept[i].Reset(d) }
func (w *of) Drain(fn func(f func()))           { w.Of.Drain(fn) }
func (w *of) Close()                            { w.Of.Stop() }

// keyed is a Keyed whose keys are the numbers and whose values are functions.
type keyed struct {
	*hierarchy.Keyed[int, func()]
	anyKey *hierarchy.Keyed[any, func()]
}

func openKeyed(c Config) (Timers, error) {
	w, err := hierarchy.NewKeyed(c.hierarchical(), func(_ int, f func()) { f() })
	if err != nil {
		return nil, err
	}
	anyKey, err := hierarchy.NewKeyed(c.hierarchical(), func(_ any, f func()) { f() })
	return &keyed{w, anyKey}, err
}

func (w *keyed) Set(i int, d time.Duration, f func()) error { return w.Keyed.Set(i, f, d) }

func (w *keyed) Stop(i int) bool {
	_, stopped := w.Remove(i)
	return stopped
}

func (w *keyed) Reset(i int, d time.Duration) bool {
	moved, _ := w.Move(i, d)
	return moved
}

func (w *keyed) Drain(fn func(f func())) { w.Keyed.Drain(func(_ int, f func()) { fn(f) }) }

func (w *keyed) SetKey(key any, d time.Duration, f func()) error { return w.anyKey.Set(key, f, d) }

func (w *keyed) Close() {
	w.Keyed.Stop()
	w.anyKey.Stop()
}
