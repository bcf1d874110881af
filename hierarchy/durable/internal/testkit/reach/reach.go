// Package reach measures how much memory a value keeps alive, for tests of what must be bounded.
package reach

import (
	"reflect"
	"strings"
)

// Bytes returns the size of all memory that can be reached from root, which nothing may change meanwhile, and of that
// which each type has. It does not follow values whose types stops names, functions, and what package unsafe or sync.Pool
// hides.
func Bytes(root any, stops func(reflect.Type) bool) (all int, of map[reflect.Type]int) {
	w := walk{stops: stops, seen: make(map[place]bool), of: make(map[reflect.Type]int)}
	w.from(reflect.ValueOf(root))
	return w.bytes, w.of
}

// place is memory that was counted. A pointer to a struct and one to its first field have different types.
type place struct {
	at uintptr
	of reflect.Type
}

type walk struct {
	stops func(reflect.Type) bool
	seen  map[place]bool
	bytes int
	of    map[reflect.Type]int
}

// isNew reports whether memory has not been counted yet, and counts it.
func (w *walk) isNew(at uintptr, of reflect.Type, size int) bool {
	p := place{at, of}
	if at == 0 || w.seen[p] {
		return false
	}
	w.seen[p] = true
	w.bytes += size
	w.of[of] += size
	return true
}

// from follows all pointers of v. The memory of v itself was counted.
func (w *walk) from(v reflect.Value) {
	if !v.IsValid() || w.stops(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if t := v.Type().Elem(); w.isNew(v.Pointer(), t, int(t.Size())) {
			w.from(v.Elem())
		}
	case reflect.Interface:
		w.from(v.Elem())
	case reflect.String:
		w.isNew(uintptr(v.Pointer()), v.Type(), v.Len())
	case reflect.Slice:
		t := v.Type().Elem()
		if w.isNew(v.Pointer(), v.Type(), v.Cap()*int(t.Size())) && follows(t) {
			w.elements(v)
		}
	case reflect.Array:
		if follows(v.Type().Elem()) {
			w.elements(v)
		}
	case reflect.Map:
		w.entries(v)
	case reflect.Chan:
		w.isNew(v.Pointer(), v.Type(), v.Cap()*int(v.Type().Elem().Size()))
	case reflect.Struct:
		w.fields(v)
	}
}

func (w *walk) elements(v reflect.Value) {
	for i := range v.Len() {
		w.from(v.Index(i))
	}
}

func (w *walk) entries(v reflect.Value) {
	t := v.Type()
	if !w.isNew(v.Pointer(), t, v.Len()*int(t.Key().Size()+t.Elem().Size())) {
		return
	}
	for i := v.MapRange(); i.Next(); {
		w.from(i.Key())
		w.from(i.Value())
	}
}

func (w *walk) fields(v reflect.Value) {
	t := v.Type()
	if t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer[") {
		of := t.Field(0).Type.Elem().Elem() // the first field is [0]*T
		if p := v.FieldByName("v").UnsafePointer(); p != nil {
			w.from(reflect.NewAt(of, p))
		}
		return
	}
	for i := range v.NumField() {
		w.from(v.Field(i))
	}
}

// follows reports whether values of a type can have pointers.
func follows(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.String, reflect.Slice, reflect.Map, reflect.Chan, reflect.Struct, reflect.Array:
		return true
	}
	return false
}
