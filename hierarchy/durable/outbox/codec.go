package outbox

import "encoding/json"

// jsonCodec is the default Codec.
type jsonCodec[T any] struct{}

func (jsonCodec[T]) Append(b []byte, v T) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func (jsonCodec[T]) Decode(b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}
