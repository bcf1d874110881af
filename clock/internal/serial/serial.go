// Package serial calls functions one call at a time.
package serial

import "sync"

// Call calls F so that its calls never overlap. A Run that comes while F runs makes F run
// once more when it has returned.
type Call struct {
	F func() // immutable

	mu      sync.Mutex
	running bool // guarded by mu
	again   bool // guarded by mu; Run was called while F was running
}

// Run calls F, or has the goroutine call it again in which it is running.
func (c *Call) Run() {
	if !c.begin() {
		return
	}
	returned := false
	defer func() {
		if !returned && c.more() { // F panicked or exited its goroutine
			c.end()
			go c.Run()
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

// more tells whether to call F again, and if not ends the running.
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
