// Package gozero compares package compat with go-zero's core/collection: where they
// differ, where they don't, in a service, and in benchmarks.
package gozero
