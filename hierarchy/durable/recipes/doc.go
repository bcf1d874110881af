// Package recipes has the code of docs/recipes.md that uses durable timers, as tests.
package recipes
