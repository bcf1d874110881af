package context

import (
	"context"
	"fmt"
	"reflect"
)

// WithValue is [context.WithValue]. If package context needs no goroutine for a child of parent, it needs none for a
// child of the result either.
func WithValue(parent Context, key, val any) Context {
	if _, ok := parent.(afterFuncer); !ok || key == nil || !reflect.TypeOf(key).Comparable() {
		return context.WithValue(parent, key, val) // panics if an argument is bad
	}
	return &valueContext{parent, key, val}
}

// afterFuncer is the method that package context looks for in a parent of a type that it does not know. Without it,
// package context starts a goroutine for each child. Contexts with a deadline on the wheel have the method, but a value
// context of package context would hide it.
type afterFuncer interface {
	AfterFunc(f func()) (stop func() bool)
}

// valueContext is a value that does not hide the AfterFunc of its parent.
type valueContext struct {
	Context  // has an AfterFunc
	key, val any
}

func (c *valueContext) Value(key any) any {
	if key == c.key {
		return c.val
	}
	return c.Context.Value(key)
}

func (c *valueContext) AfterFunc(f func()) (stop func() bool) {
	return c.Context.(afterFuncer).AfterFunc(f)
}

// String returns the text that package context prints for a value context.
func (c *valueContext) String() string { return fmt.Sprint(context.WithValue(c.Context, c.key, c.val)) }
