// Package recipes has the code of docs/durable-recipes.md, as tests.
package recipes
