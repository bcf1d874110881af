// Package gozero runs package compat and go-zero's core/collection side by side:
// where the two differ, where they don't, in a service, and in benchmarks.
package gozero
