package compat

import (
	"errors"
	"reflect"
	"runtime/debug"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// translate makes the hierarchy's errors those of this package.
func translate(err error) error {
	switch {
	case errors.Is(err, hierarchy.ErrClosed):
		return ErrClosed
	case errors.Is(err, hierarchy.ErrArgument):
		return ErrArgument
	}
	return err
}

// fit tells whether key may be the key of a timer: it is not nil and can be
// compared.
func fit(key any) bool {
	switch key.(type) {
	case nil:
		return false
	case string, int, int64, uint64:
		return true // most keys are, and asking costs as much as a timer
	}
	return reflect.ValueOf(key).Comparable()
}

// isNil tells whether v is nil, or an interface that holds a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// recoverTask is deferred around what the wheel does not call itself.
func recoverTask() {
	if r := recover(); r != nil {
		logPanic(r, debug.Stack())
	}
}
