package compat

import (
	"math/bits"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestPartsShareNoCacheLine(t *testing.T) {
	if bits.UintSize < 64 {
		t.Skip("parts are padded for 64 bits")
	}
	require.Zero(t, unsafe.Sizeof(part{})%64)
}
