package tests

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// realWorld is two wheels on a mock.
type realWorld struct {
	*book
	mock  *clock.Mock
	both  [2]ends
	epoch time.Time
	ids   int
	step  func(s step) string // carries out steps that only one kind of wheel has
}

func newRealWorld(kind string) *realWorld {
	m := clock.NewMock()
	r := &realWorld{book: newBook(), mock: m, epoch: m.Now()}
	r.book.world = r
	r.book.secrets = func() string {
		text := kind
		for _, w := range r.both {
			st := w.Stats()
			text += fmt.Sprintf("%v %v %v", st.Lateness.Count(), st.Lateness.Max(), w.Circles())
			st.Lateness = hierarchy.Histogram{}
			text += fmt.Sprintf("%+v", st)
		}
		return text
	}
	return r
}

func (r *realWorld) config() hierarchy.Config {
	return hierarchy.Config{Clock: r.mock, OnPanic: func(any, []byte) { r.note("panic") }}
}

// called is the callback of a timer.
func (r *realWorld) called(id, wheel int, then *step) {
	r.note("%d of wheel %d fires at %d", id, wheel, r.mock.Elapsed())
	if then == nil {
		return
	}
	if then.do == misbehave {
		panic("as told")
	}
	r.note("inside: %s", r.do(*then))
}

func (r *realWorld) do(s step) string {
	switch s.do {
	case add, addMore:
		r.mock.Add(r.stride(s.d))
	case setTime:
		r.mock.Set(r.mock.Now().Add(r.stride(s.d)))
	case addNext:
		return fmt.Sprint(r.mock.AddNext())
	case jump:
		r.mock.Jump(s.d % (1 << 40))
	case stopWheel:
		r.both[s.wheel].Stop()
		r.endAll(s.wheel)
	default:
		return r.step(s)
	}
	return ""
}

func (r *realWorld) state() string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %d, wall %d", r.mock.Elapsed(), r.mock.Now().Sub(r.epoch.Add(r.mock.Elapsed())))
	for _, w := range r.both {
		st := w.Stats()
		fmt.Fprintf(&b, "; %d pending, %d set, %d fired, %d moved, %d taken, %d panics",
			w.Len(), st.Scheduled, st.Fired, st.Moved, st.Stopped+st.Drained+st.Dropped, st.Panics)
	}
	if d, ok := r.mock.Next(); ok {
		return b.String() + fmt.Sprintf("; next in %d", d)
	}
	return b.String() + "; nothing next"
}

// sentinel returns the text of the package's error that err is.
func sentinel(err error) string {
	for _, known := range []error{hierarchy.ErrClosed, hierarchy.ErrFull, hierarchy.ErrNilFunc, hierarchy.ErrArgument} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprint(err)
}

// realKeyed carries out the steps on keys.
type realKeyed struct {
	*realWorld
	wheels [2]*hierarchy.Keyed[int, named]
}

type named struct {
	id   int
	then *step
}

func newRealKeyed(t *testing.T, b []byte, limit [2]int) *realKeyed {
	r := &realKeyed{realWorld: newRealWorld("keyed")}
	r.realWorld.step = r.do
	for i, cfg := range configs(b, r.config(), limit) {
		w, err := hierarchy.NewKeyed(cfg, func(_ int, v named) { r.called(v.id, i, v.then) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		r.wheels[i], r.both[i] = w, w
	}
	return r
}

func (r *realKeyed) do(s step) string {
	w, k := r.wheels[s.wheel], s.target%keys
	v, left, ok := w.Get(k)
	seen := fmt.Sprint(v.id, left)
	switch s.do {
	case set, setAgain, setAt, every:
		old, _, err := w.Swap(k, named{r.ids + 1, s.then}, s.d)
		if err != nil {
			return sentinel(err)
		}
		r.ids++
		return fmt.Sprint("swapped ", old.id)
	case move:
		moved, err := w.Move(k, s.d)
		if err != nil {
			return fmt.Sprint(moved, err)
		}
		v, left, _ = w.Get(k)
		seen = fmt.Sprint(v.id, left)
		ok = moved
	case remove:
		_, ok = w.Remove(k)
	case drain:
		return r.drain(s)
	case get:
	default:
		return ""
	}
	if !ok {
		return "no such key"
	}
	return seen
}

func (r *realKeyed) drain(s step) (drained string) {
	if s.target%4 == 0 {
		r.wheels[s.wheel].Drain(func(_ int, v named) { drained += fmt.Sprint(v.id, " ") })
	}
	return drained
}

// realWheels carries out the steps on Timers and Repeaters.
type realWheels struct {
	*realWorld
	wheels    [2]*hierarchy.Wheel
	timers    map[int]hierarchy.Timer
	repeaters map[int]*hierarchy.Repeater
}

func newRealWheels(t *testing.T, b []byte, limit [2]int) *realWheels {
	r := &realWheels{
		realWorld: newRealWorld("wheel"),
		timers:    map[int]hierarchy.Timer{}, repeaters: map[int]*hierarchy.Repeater{},
	}
	r.realWorld.step = r.do
	for i, cfg := range configs(b, r.config(), limit) {
		w := newWheel(t, cfg)
		r.wheels[i], r.both[i] = w, w
	}
	return r
}

func (r *realWheels) do(s step) string {
	switch s.do {
	case set, setAgain, setAt, every:
		return r.set(s)
	case stop, reset, remaining:
		if r.ids > 0 {
			return r.handle(s, 1+s.target%r.ids)
		}
	}
	return ""
}

func (r *realWheels) set(s step) string {
	w, id := r.wheels[s.wheel], r.ids+1
	callback := func() { r.called(id, s.wheel, s.then) }
	var err error
	switch s.do {
	case every:
		var rep *hierarchy.Repeater
		if rep, err = w.Every(s.d, callback); err == nil {
			r.repeaters[id] = rep
			r.begin(id, s.wheel, s.d)
		}
	case setAt:
		r.timers[id], err = w.At(r.mock.Now().Add(s.d), callback)
	default:
		r.timers[id], err = w.AfterFunc(s.d, callback)
	}
	if err != nil {
		delete(r.timers, id)
		return sentinel(err)
	}
	r.ids++
	return fmt.Sprint("set ", id)
}

func (r *realWheels) handle(s step, id int) string {
	if rep := r.repeaters[id]; rep != nil {
		return r.repeat(s, id, rep.Stop, rep.Reset)
	}
	timer := r.timers[id]
	left, active := timer.Remaining()
	switch {
	case s.do == stop:
		active = timer.Stop()
	case s.do == reset:
		active = timer.Reset(s.d)
	case active:
		return fmt.Sprint(left)
	}
	if !active {
		return "gone"
	}
	return "true"
}
