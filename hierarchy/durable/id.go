package durable

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// ID identifies a timer. It is comparable. Its text, which is also its JSON, can be stored.
type ID struct{ id frame.ID }

// ParseID is the inverse of String. For any other text it returns ErrArgument.
func ParseID(text string) (id ID, err error) {
	if b, err := hex.DecodeString(text); err == nil && len(b) == 16 {
		id = ID{frame.ID{Owner: binary.BigEndian.Uint64(b), Number: binary.BigEndian.Uint64(b[8:])}}
	}
	if id.String() != text { // such as a text with capital letters
		return ID{}, fmt.Errorf("%w: %.60q is no ID", core.ErrArgument, text)
	}
	return id, nil
}

// String returns the ID as 32 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x%016x", id.id.Owner, id.id.Number) }

// MarshalText returns the String of id. The error is always nil.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText sets id to ParseID of text. If that fails, id is unchanged.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	if err == nil {
		*id = parsed
	}
	return err
}
