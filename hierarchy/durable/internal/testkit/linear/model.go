package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// register is the timer of a key, if any, and how many of the calls without an answer were committed.
type register struct {
	there bool
	known bool // value is the timer's value; otherwise the timer has a value that nobody has seen
	value string

	sets, removes int // how many of the spares were used
}

// operation is the input of one operation for porcupine.
type operation struct {
	Input
	ended  int64
	spares *spares // of the key
}

// model is porcupine's model of the keys: each is a register.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		keys := map[*spares][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(operation).spares
			keys[k] = append(keys[k], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range keys {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		return input.(operation).step(state.(register), output.(Output))
	},
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%+v: %+v", input.(operation).Input, output)
	},
}

// step reports whether the operation, with that output, can be the next one, and returns the register after it.
func (o operation) step(r register, out Output) (bool, register) {
	if o.spares.latest(r) > o.ended {
		return false, r // it ended before an operation that was already committed
	}
	must, there := o.needs(out)
	if must && !o.spares.bring(&r, there, o.ended) {
		return false, r
	}
	fits := true
	switch {
	case o.isPlain():
		fits = out.Unknown || out.OK
	case o.shows(out):
		fits = r.known && r.value == out.Value
	}
	switch {
	case o.isSet() && !(o.Absent && !out.Unknown && !out.OK):
		r.there, r.known, r.value = true, true, o.Value
	case o.Kind == frame.Remove:
		r.there, r.known, r.value = false, false, ""
	}
	return fits, r
}

// needs returns whether it matters that the key has a timer before the operation, and if so, whether it must have one.
func (o operation) needs(out Output) (must, there bool) {
	switch {
	case o.Absent && out.Unknown: // somebody has seen its value
		return true, false
	case o.Absent:
		return true, !out.OK
	}
	return !out.Unknown && !o.isPlain(), out.OK
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
