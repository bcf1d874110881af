package linear

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// register is the timer of a key, if any, and how many of the calls without an answer were committed.
type register struct {
	there bool
	known bool // value is the timer's value; otherwise the timer has a value that nobody has seen
	value string

	sets, removes int // how many of the spares were used
}

// operation is a call that was committed between Begun and Ended.
type operation struct {
	Call
	spares *spares // of the key
}

// step reports whether the operation can be the next one, and returns the register after it.
func (o *operation) step(r register) (bool, register) {
	in, out := o.Input, o.Output
	if o.spares.latest(r) > o.Ended {
		return false, r // it ended before an operation that was already committed
	}
	must, there := in.needs(out)
	if must && !o.spares.bring(&r, there, o.Ended) {
		return false, r
	}
	fits := true
	switch {
	case in.isPlain():
		fits = out.Unknown || out.OK
	case in.shows(out):
		fits = r.known && r.value == out.Value
	}
	switch {
	case in.isSet() && !(in.Absent && !out.Unknown && !out.OK):
		r.there, r.known, r.value = true, true, in.Value
	case in.Kind == frame.Remove:
		r.there, r.known, r.value = false, false, ""
	}
	return fits, r
}

// needs returns whether it matters that the key has a timer before the operation, and if so, whether it must have one.
func (in Input) needs(out Output) (must, there bool) {
	switch {
	case in.Absent && out.Unknown: // somebody has seen its value
		return true, false
	case in.Absent:
		return true, !out.OK
	}
	return !out.Unknown && !in.isPlain(), out.OK
}

func (in Input) isSet() bool { return in.Kind == frame.Set || in.Kind == frame.SetAt }

// isPlain reports whether an operation sets the key whatever timer that has, and returns nothing of it.
func (in Input) isPlain() bool { return in.isSet() && !in.Absent && !in.Swap }

// shows reports whether an answer has the value that was there. Not all callers ask for that of a timer that was moved,
// or because of which a condition did not hold.
func (in Input) shows(out Output) bool {
	switch {
	case out.Unknown:
		return false
	case in.Absent:
		return !out.OK && out.Value != ""
	case in.Kind == frame.Move:
		return out.OK && out.Value != ""
	}
	return out.OK && !in.isPlain()
}
