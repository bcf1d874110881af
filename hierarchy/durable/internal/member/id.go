package member

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
)

// ID names a member: one Join of one process. No ID is used twice. The zero ID is nobody.
type ID uint64

// String returns 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// parseID returns the ID that String made s of. It is false for anything else, and for nobody.
func parseID(s string) (id ID, ok bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	id = ID(n)
	return id, err == nil && n != 0 && id.String() == s
}

// newID returns a random ID.
func newID() ID {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		if id := ID(binary.LittleEndian.Uint64(b[:])); id != 0 {
			return id
		}
	}
}
