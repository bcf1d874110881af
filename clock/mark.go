package clock

import (
	"math/bits"
	"reflect"
	"runtime"
	"sync"
)

// A call that moves a Mock must know whether it comes from a callback of that
// very Mock (then it would wait for itself) or from another goroutine (then it
// waits its turn). Go has no name for the running goroutine, but a goroutine
// can read its own stack. So callbacks run under a frame of mark, repeated as
// often as spells the Mock's number among those being moved: usually once. The
// stack is read only by a call that finds its Mock busy.

// atRest is the number of a Mock that nobody moves.
const atRest = -1

// mark calls f under n+1 frames of mark.
//
//go:noinline
func mark(n int, f func()) {
	if n == 0 {
		f()
	} else {
		mark(n-1, f)
	}
}

var markName = runtime.FuncForPC(reflect.ValueOf(mark).Pointer()).Name()

// insideMark tells whether the calling goroutine runs under mark(n, …).
func insideMark(n int) bool {
	pcs := make([]uintptr, 64)
	for size := runtime.Callers(2, pcs); size == len(pcs); size = runtime.Callers(2, pcs) {
		pcs = make([]uintptr, 2*len(pcs))
	}
	frames, run := runtime.CallersFrames(pcs), 0
	for {
		frame, more := frames.Next()
		if frame.Function == markName {
			run++
		} else {
			if run == n+1 {
				return true
			}
			run = 0
		}
		if !more {
			return false
		}
	}
}

// numbers says which numbers are taken by mocks that are being moved.
var numbers struct {
	mu    sync.Mutex
	taken []uint64 // guarded by mu; a bit a number
}

// takeNumber takes the lowest number that is free.
func takeNumber() int {
	numbers.mu.Lock()
	defer numbers.mu.Unlock()
	for i, word := range numbers.taken {
		if free := bits.TrailingZeros64(^word); free < 64 {
			numbers.taken[i] |= 1 << uint(free)
			return i*64 + free
		}
	}
	numbers.taken = append(numbers.taken, 1)
	return (len(numbers.taken) - 1) * 64
}

func returnNumber(n int) {
	numbers.mu.Lock()
	numbers.taken[n/64] &^= 1 << uint(n%64)
	numbers.mu.Unlock()
}
