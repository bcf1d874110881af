// Package gozero compares package compat with go-zero's core/collection. It has tests of the differences, of what is
// the same, and of a service, and benchmarks.
package gozero
