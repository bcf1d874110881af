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
	running bool // guarded by mu
	again   bool // guarded by mu; whether Run was called while F was running
}

// Run calls F. If F is already running, Run returns at once, and the goroutine that runs F calls it again when it has
// returned.
func (c *Call) Run() {
	if !c.begin() {
		return
	}
	returned := false
	defer func() {
		if !returned && c.more() { // F panicked or exited its goroutine
			c.end()
			go func() {
				pprof.SetGoroutineLabels(context.Background()) // the labels that F has left
				c.Run()
			}()
		}
	}()
	for {
		c.F()
		if !c.more() {
			returned = true
			return
		}
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

// more reports whether to call F again. If not, it records that F is no longer running.
func (c *Call) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := c.again
	c.again = false
	c.running = again
	return again
}

func (c *Call) end() {
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
}
