package hierarchy

import (
	"fmt"
	"hash/maphash"
	"reflect"
)

// hash is the hash of k, or ErrArgument if k can't be compared.
func (w *Keyed[K, V]) hash(k K) (uint64, error) {
	requireMade(w.core != nil, "wheel")
	if w.wary {
		return w.hashWarily(k)
	}
	return maphash.Comparable(w.seed, k), nil
}

func (w *Keyed[K, V]) hashWarily(k K) (h uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: key: %v", ErrArgument, r)
		}
	}()
	return maphash.Comparable(w.seed, k), nil
}

// mayPanic tells whether comparing two values of type t can panic: t is or
// holds an interface.
func mayPanic(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return mayPanic(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if mayPanic(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
