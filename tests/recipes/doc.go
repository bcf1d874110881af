// Package recipes holds the code of docs/recipes.md, docs/choosing.md and
// docs/testing.md, as Examples and tests that run it.
package recipes
