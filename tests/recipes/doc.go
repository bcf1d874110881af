// Package recipes has the code of docs/recipes.md, docs/choosing.md and docs/testing.md,
// in examples and tests that run it.
package recipes
