// Package recipes has the code of docs/recipes.md and its neighbours, which do without durable timers, in examples and
// tests that run it.
package recipes
