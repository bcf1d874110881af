// Package serial makes sure that calls of a function do not overlap.
package serial

import (
	"context"
	"runtime/pprof"
	"sync"
)

// Call calls F so that its calls never overlap. A Run while F is running makes F run once
// more after it has returned.
type Call struct {
	F func() // immutable

	mu      sync.Mutex
	running bool   // guarded by mu
	again   bool   // guarded by mu; whether Run was called while F was running
	then    func() // guarded by mu; what was passed to Then; nil if there is none
}

// Run calls F. If F is already running, Run returns at once, and the goroutine that runs F calls it again when it has
// returned.
func (c *Call) Run() {
	if !c.begin() {
		return
	}
	if then := c.repeat(); then != nil {
		then()
	}
}

// Then makes the goroutine that runs F call f once, when F has returned and no other call of F was asked for. From then
// on Run calls F in another goroutine, even before f begins. So f may block, panic or exit the goroutine. If F panics
// or exits the goroutine, f is called in a new one. Only F may call Then. A function that was passed earlier and not
// called yet is replaced.
func (c *Call) Then(f func()) {
	c.mu.Lock()
	c.then = f
	c.mu.Unlock()
}

// repeat calls F until no further call was asked for meanwhile. It returns what to call then.
func (c *Call) repeat() (then func()) {
	returned := false
	defer func() {
		if !returned { // F panicked or exited its goroutine
			c.goOn()
		}
	}()
	for again := true; again; {
		c.F()
		again, then = c.next()
	}
	returned = true
	return then
}

// goOn does in a new goroutine what this one has left to do.
func (c *Call) goOn() {
	again, do := c.next()
	if again {
		c.end()
		do = c.Run
	}
	if do != nil {
		go func() {
			pprof.SetGoroutineLabels(context.Background()) // the labels that F has left
			do()
		}()
	}
}

func (c *Call) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.again = c.running
	if c.running {
		return false
	}
	c.running = true
	return true
}

// next reports whether to call F again. If not, it records that F is no longer running, and returns what to call then.
func (c *Call) next() (again bool, then func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again = c.again
	c.again = false
	c.running = again
	if !again {
		then, c.then = c.then, nil
	}
	return again, then
}

func (c *Call) end() {
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
}
