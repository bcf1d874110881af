package hierarchy

import (
	"reflect"
	"sync"
)

// Executor runs tasks. It must call each task that it is given exactly once: later, or,
// if it can't, in the call itself. The goroutine that woke the wheel calls it, with no
// lock held, so it should not block. Go and Pool are also called by the goroutine that sets
// what is due already. Any function of a worker pool that takes a func() is an Executor.
type Executor func(task func())

// Go runs each task in its own goroutine, as time.AfterFunc does. If many timers of a wheel are
// due together, one goroutine may run several of their callbacks, one after the other, while
// others stand by. Still none waits for another, and what it does to its goroutine is its own.
func Go(task func()) { go task() }

// Inline runs each task in the goroutine that woke the wheel. It is the cheapest executor,
// and the callbacks of one wheel never overlap. Use it for callbacks that never block: all
// other timers of the wheel wait for them. What a callback leaves in that goroutine, such as
// profiler labels, the next callback may find there.
func Inline(task func()) { task() }

// isInline recognises Inline, for which the wheel needs no closure per task.
func isInline(e Executor) bool {
	return codeOf(e) == codeOf(Inline)
}

// isGo recognises Go.
func isGo(e Executor) bool { return codeOf(e) == codeOf(Go) }

// isPool recognises every Pool.
func isPool(e Executor) bool { return codeOf(e) == codeOf(Pool(1)) }

// poolOf returns the pool whose Executor e is, or nil if it is none. e is asked by a call
// without a task.
func poolOf(e Executor) *pool {
	if !isPool(e) {
		return nil
	}
	asking.mu.Lock()
	defer asking.mu.Unlock()
	asking.pool = new(pool)
	e(nil)
	p := asking.pool
	asking.pool = nil
	return p
}

// asking is where a pool answers to poolOf.
var asking struct {
	mu   sync.Mutex
	pool *pool // guarded by mu; nil unless poolOf asks
}

// tellPool is called by an Executor without a task, with mu held by poolOf.
func tellPool(p *pool) {
	if asking.pool == nil {
		panic("hierarchy: a Pool was given a nil task")
	}
	asking.pool = p
}

// codeOf is the address of the code of a function, which all functions of one literal share.
func codeOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }
