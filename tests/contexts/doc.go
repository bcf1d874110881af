// Package contexts has the tests of the contexts of a wheel: that they do what those of package context do, below any
// parent and at any time, that they leave nothing behind, and what happens when a function that one calls blocks, panics
// or stops the wheel.
package contexts
