// Package executor calls functions in other goroutines. It implements hierarchy.Go and hierarchy.Pool, which get many
// callbacks of a wheel at once.
package executor
