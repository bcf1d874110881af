package durable

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// keyCodec is the default for keys of that type. It is an error if JSON gives different keys of the
// type the same bytes: one timer would silently replace another.
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
	sure, err := tellsApart(t, "")
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

// checked is JSON for keys of a type whose values it may tell apart, or not. Each key is decoded
// again: if it comes back, no other key has its bytes.
type checked[K comparable] struct{ jsonCodec[K] }

func (c checked[K]) Append(b []byte, k K) ([]byte, error) {
	n := len(b)
	b, err := c.jsonCodec.Append(b, k)
	if err != nil {
		return b, fmt.Errorf("%w: a key of type %T can't be encoded: %w", partition.ErrArgument, k, err)
	}
	switch back, err := c.Decode(b[n:]); {
	case err != nil:
		return b, fmt.Errorf("%w: a key of type %T can't be decoded from %.60q: %w", partition.ErrArgument, k, b[n:], err)
	case back != k:
		return b, fmt.Errorf("%w: a key of type %T is another one when it is decoded from %.60q", partition.ErrArgument, k, b[n:])
	}
	return b, nil
}

// tellsApart tells whether JSON surely gives different values of type t different bytes, and equal
// ones equal bytes. If it surely does not, that is an error, which says what in t is at fault. name
// says where t is in the type of the keys.
func tellsApart(t reflect.Type, name string) (sure bool, err error) {
	switch {
	case implements[json.Marshaler](t), implements[encoding.TextMarshaler](t):
		return false, nil
	case t.Kind() == reflect.Bool, isInteger(t):
		sure = true
	case t.Kind() == reflect.String: // of invalid UTF-8, only a part is left
	case t.Kind() == reflect.Array:
		sure, err = tellsApart(t.Elem(), name+"[]")
	case t.Kind() == reflect.Struct:
		sure, err = tellsFieldsApart(t, name)
	default: // -0 and 0 are one key and two texts. What is behind a pointer is not part of the key
		err = fmt.Errorf("%s is %s", orType(name, t), kindOf(t))
	}
	p := reflect.PointerTo(t)
	return sure && !implements[json.Unmarshaler](p) && !implements[encoding.TextUnmarshaler](p), err
}

// tellsFieldsApart is tellsApart for a struct. Tags can rename a field to one that is there.
func tellsFieldsApart(t reflect.Type, name string) (sure bool, err error) {
	sure = true
	for i := range t.NumField() {
		f := t.Field(i)
		path := f.Name
		if name != "" {
			path = name + "." + f.Name
		}
		promoted := f.Anonymous && f.Type.Kind() == reflect.Struct
		switch tag := f.Tag.Get("json"); {
		case f.Name == "_": // == does not look at it
			continue
		case !f.IsExported() && !promoted:
			return false, fmt.Errorf("its field %s is not exported", path)
		case tag == "-":
			return false, fmt.Errorf("its field %s has the tag json:%q", path, tag)
		case tag != "" || f.Anonymous:
			sure = false
		}
		is, err := tellsApart(f.Type, path)
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
