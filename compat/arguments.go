package compat

import (
	"errors"
	"reflect"
	"runtime/debug"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// translate returns the error of this package that corresponds to one of package
// hierarchy.
func translate(err error) error {
	switch {
	case errors.Is(err, hierarchy.ErrClosed):
		return ErrClosed
	case errors.Is(err, hierarchy.ErrArgument):
		return ErrArgument
	}
	return err
}

// fit tells whether key can be the key of a timer: it is not nil and can be compared.
func fit(key any) bool {
	switch key.(type) {
	case nil:
		return false
	case string, int, int64, uint64:
		return true // the usual keys, without reflection, which costs as much as a timer
	}
	return reflect.ValueOf(key).Comparable()
}

// isNil tells whether v is nil or a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// recoverTask is deferred around calls of user code that package hierarchy does not
// make. It recovers a panic and logs it.
func recoverTask() {
	if r := recover(); r != nil {
		logPanic(r, debug.Stack())
	}
}
