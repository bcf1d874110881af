package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// register is a key's timer, or nothing, and which of the calls without an answer took hold.
type register struct {
	there bool
	known bool // value is what it has; else it has one that nobody has seen
	value string

	sets, removes int // so many of the spares have been used
}

// operation is the input of one operation for porcupine.
type operation struct {
	Input
	ended  int64
	spares *spares // of the key
}

// model is what each key is, by what was asked and answered.
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

// step tells whether the operation can be the next one, and what it makes of the register.
func (o operation) step(r register, out Output) (bool, register) {
	if o.spares.latest(r) > o.ended {
		return false, r // it ended before what has taken hold already
	}
	if o.Kind == frame.Set || o.Kind == frame.SetAt {
		r.there, r.known, r.value = true, true, o.Value
		return out.Unknown || out.OK, r
	}
	if !out.Unknown && !o.spares.bring(&r, out.OK, o.ended) {
		return false, r
	}
	fits := true
	if out.OK && o.Kind != frame.Move { // it has told the value
		fits = r.known && r.value == out.Value
	}
	if o.Kind == frame.Remove {
		r.there, r.known, r.value = false, false, ""
	}
	return fits, r
}
