package compat

import (
	"errors"
	"reflect"
	"runtime/debug"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// translate returns the error of this package that corresponds to err, an error of package hierarchy.
func translate(err error) error {
	switch {
	case errors.Is(err, hierarchy.ErrClosed):
		return ErrClosed
	case errors.Is(err, hierarchy.ErrArgument):
		return ErrArgument
	}
	return err
}

// requireMade panics if a method is called on a zero value that needs a constructor.
func requireMade(made bool, what string) {
	if !made {
		panic("compat: method called on a zero " + what + ": use New" + what)
	}
}

// validKey reports whether key can be the key of a timer: it is not nil and can be
// compared.
func validKey(key any) bool {
	switch key.(type) {
	case nil:
		return false
	case string, int, int64, uint64:
		return true // the usual keys skip reflection, which costs as much as a timer
	}
	return reflect.ValueOf(key).Comparable()
}

// isNil reports whether v is nil or a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// recoverTask recovers a panic and logs it. It is deferred around user code that this
// package calls itself; package hierarchy recovers the panics of the code it calls.
func recoverTask() {
	if r := recover(); r != nil {
		logPanic(r, debug.Stack())
	}
}
