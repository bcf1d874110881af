package partitiontest

import (
	"fmt"
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Random returns an operation of a caller on one of few keys, with a value that no other operation has.
func Random(r *rand.Rand, caller, n int) Input {
	in := Input{Key: fmt.Sprint(r.IntN(3)), Value: fmt.Sprintf("%d-%d", caller, n)}
	in.Kind = []frame.Kind{0, frame.Set, frame.Set, frame.Move, frame.Remove}[r.IntN(5)]
	if in.Kind == frame.Set {
		in.Absent = r.IntN(3) == 0
		in.Swap = !in.Absent && r.IntN(3) == 0
	}
	return in
}
