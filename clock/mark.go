package clock

import (
	"math/bits"
	"reflect"
	"runtime"
	"sync"
)

// A call that moves a Mock must know whether it runs inside a callback of that Mock. If it does, it would wait for
// itself and must panic. Otherwise it waits its turn. A goroutine has no identity in Go, but it can read its own stack.
// Therefore callbacks run under frames of markCallback. Each Mock being moved has a number, and its callbacks run under
// one frame more than that number. The number is usually 0. Only a call that finds its Mock busy reads the stack.

// atRest is the number of a Mock that is not being moved.
const atRest = -1

// markCallback calls f under n+1 frames of itself.
//
//go:noinline
func markCallback(n int, f func()) {
	if n == 0 {
		f()
	} else {
		markCallback(n-1, f)
	}
}

var markCallbackName = runtime.FuncForPC(reflect.ValueOf(markCallback).Pointer()).Name()

// insideCallback reports whether the calling goroutine is inside markCallback(n, f) for
// some f.
func insideCallback(n int) bool {
	pcs := make([]uintptr, 64)
	for size := runtime.Callers(2, pcs); size == len(pcs); size = runtime.Callers(2, pcs) {
		pcs = make([]uintptr, 2*len(pcs))
	}
	frames, run := runtime.CallersFrames(pcs), 0
	for {
		frame, more := frames.Next()
		if frame.Function == markCallbackName {
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

// numbers records the numbers of the mocks that are being moved.
var numbers struct {
	mu    sync.Mutex
	taken []uint64 // guarded by mu; one bit for each number
}

// takeNumber takes the lowest free number.
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
