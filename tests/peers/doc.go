// Package peers holds what is tested and measured together with other
// libraries. It is a module of its own, so that they don't appear in the go.sum
// of those who use the wheel.
package peers
