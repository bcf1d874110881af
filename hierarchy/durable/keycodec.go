package durable

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// keyCodec returns the default of Config.Key, or an error if JSON could encode different keys of type K
// alike: one timer would silently replace another.
func keyCodec[K comparable]() (Codec[K], error) {
	t := reflect.TypeFor[K]()
	switch {
	case t.Kind() == reflect.String:
		return text[K]{}, nil
	case isInteger(t):
		return integer[K]{}, nil
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return array[K]{}, nil
	}
	sure, err := isInjective(t, "")
	switch {
	case err != nil:
		return nil, fmt.Errorf("keys of type %v need a Codec in Key, as JSON does not tell all of them apart: %w", t, err)
	case sure:
		return jsonCodec[K]{}, nil
	}
	return checked[K]{}, nil
}

func isInteger(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr
}

// checked is the JSON Codec for types of which JSON may encode some different keys alike. Each key is decoded again
// after encoding: if the result is the same key, no other key has these bytes.
type checked[K comparable] struct{ jsonCodec[K] }

func (c checked[K]) Append(b []byte, k K) ([]byte, error) {
	n := len(b)
	b, err := c.jsonCodec.Append(b, k)
	if err != nil {
		return b, fmt.Errorf("%w: a key of type %T can't be encoded: %w", core.ErrArgument, k, err)
	}
	switch back, err := c.Decode(b[n:]); {
	case err != nil:
		return b, fmt.Errorf("%w: a key of type %T can't be decoded from %.60q: %w", core.ErrArgument, k, b[n:], err)
	case back != k:
		return b, fmt.Errorf("%w: a key of type %T does not survive encoding: %.60q decodes to a different key",
			core.ErrArgument, k, b[n:])
	}
	return b, nil
}

// isInjective reports whether JSON is certain to encode different values of type t differently, and equal values alike.
// If JSON is certain not to do that, isInjective returns an error that names the offending part of t. name is the path
// of t in the type of keys.
func isInjective(t reflect.Type, name string) (sure bool, err error) {
	switch {
	case implements[json.Marshaler](t), implements[encoding.TextMarshaler](t):
		return false, nil
	case t.Kind() == reflect.Bool, isInteger(t):
		sure = true
	case t.Kind() == reflect.String: // JSON replaces invalid UTF-8
	case t.Kind() == reflect.Array:
		sure, err = isInjective(t.Elem(), name+"[]")
	case t.Kind() == reflect.Struct:
		sure, err = areFieldsInjective(t, name)
	default: // such as floats: 0 == -0, with two encodings; and pointers: equal targets, but different keys
		err = fmt.Errorf("%s is %s", orType(name, t), kindOf(t))
	}
	p := reflect.PointerTo(t)
	return sure && !implements[json.Unmarshaler](p) && !implements[encoding.TextUnmarshaler](p), err
}

// areFieldsInjective is isInjective for a struct. It returns false if there are tags, since they can give two fields
// one name.
func areFieldsInjective(t reflect.Type, name string) (sure bool, err error) {
	sure = true
	for f := range t.Fields() {
		path := f.Name
		if name != "" {
			path = name + "." + f.Name
		}
		promoted := f.Anonymous && f.Type.Kind() == reflect.Struct
		switch tag := f.Tag.Get("json"); {
		case f.Name == "_": // == ignores blank fields
			continue
		case !f.IsExported() && !promoted:
			return false, fmt.Errorf("its field %s is not exported", path)
		case tag == "-":
			return false, fmt.Errorf("its field %s has the tag json:%q", path, tag)
		case tag != "" || f.Anonymous:
			sure = false
		}
		is, err := isInjective(f.Type, path)
		if err != nil {
			return false, err
		}
		sure = sure && is
	}
	return sure, nil
}

func implements[I any](t reflect.Type) bool { return t.Implements(reflect.TypeFor[I]()) }

func orType(name string, t reflect.Type) string {
	if name == "" {
		return t.String()
	}
	return "its field " + name
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Interface:
		return "an interface"
	case reflect.Pointer:
		return "a pointer"
	}
	return "a " + t.Kind().String()
}
