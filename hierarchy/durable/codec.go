package durable

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
)

// Codec encodes keys or values as bytes, and decodes them. It must be safe for concurrent use.
type Codec[T any] interface {
	// Append appends the encoding of v to b.
	Append(b []byte, v T) ([]byte, error)
	// Decode returns the value whose encoding is b. It must not keep b.
	Decode(b []byte) (T, error)
}

// valueCodec returns the default of Config.Value.
func valueCodec[T any]() Codec[T] {
	switch t := reflect.TypeFor[T](); {
	case t.Kind() == reflect.String:
		return text[T]{}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return octets[T]{}
	}
	return jsonCodec[T]{}
}

// text is the default Codec for strings.
type text[T any] struct{}

func (text[T]) Append(b []byte, v T) ([]byte, error) {
	if s, ok := any(v).(string); ok {
		return append(b, s...), nil
	}
	return append(b, reflect.ValueOf(v).String()...), nil
}

func (text[T]) Decode(b []byte) (v T, err error) {
	if s, ok := any(&v).(*string); ok {
		*s = string(b)
		return v, nil
	}
	reflect.ValueOf(&v).Elem().SetString(string(b))
	return v, nil
}

// octets is the default Codec for slices of bytes.
type octets[T any] struct{}

func (octets[T]) Append(b []byte, v T) ([]byte, error) {
	if s, ok := any(v).([]byte); ok {
		return append(b, s...), nil
	}
	return append(b, reflect.ValueOf(v).Bytes()...), nil
}

func (octets[T]) Decode(b []byte) (v T, err error) {
	reflect.ValueOf(&v).Elem().SetBytes(append([]byte{}, b...))
	return v, nil
}

// integer encodes integers of any type as eight bytes, big endian. So the type of keys can be changed to a larger one,
// though not from signed to unsigned if there are negative keys.
type integer[T any] struct{}

func (integer[T]) Append(b []byte, v T) ([]byte, error) {
	r := reflect.ValueOf(v)
	if r.CanInt() {
		return binary.BigEndian.AppendUint64(b, uint64(r.Int())), nil
	}
	return binary.BigEndian.AppendUint64(b, r.Uint()), nil
}

func (integer[T]) Decode(b []byte) (v T, err error) {
	if len(b) != 8 {
		return v, fmt.Errorf("durable: %d bytes are no integer", len(b))
	}
	n := binary.BigEndian.Uint64(b)
	r := reflect.ValueOf(&v).Elem()
	switch {
	case r.CanInt() && !r.OverflowInt(int64(n)):
		r.SetInt(int64(n))
	case r.CanUint() && !r.OverflowUint(n):
		r.SetUint(n)
	default:
		return v, fmt.Errorf("durable: %#x does not fit %v", n, r.Type())
	}
	return v, nil
}

// array is the default Codec for arrays of bytes.
type array[T any] struct{}

func (array[T]) Append(b []byte, v T) ([]byte, error) {
	r := reflect.ValueOf(&v).Elem()
	return append(b, r.Slice(0, r.Len()).Bytes()...), nil
}

func (array[T]) Decode(b []byte) (v T, err error) {
	r := reflect.ValueOf(&v).Elem()
	if len(b) != r.Len() {
		return v, fmt.Errorf("durable: %d bytes are no %v", len(b), r.Type())
	}
	copy(r.Slice(0, r.Len()).Bytes(), b) // reflect.Copy panics if the elements have a named type
	return v, nil
}

// jsonCodec is the default Codec for all other types.
type jsonCodec[T any] struct{}

func (jsonCodec[T]) Append(b []byte, v T) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(b, data...), err
}

func (jsonCodec[T]) Decode(b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}
