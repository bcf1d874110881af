package reach

import (
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Everything is counted once, however it is reached.
func TestBytes(t *testing.T) {
	type node struct {
		next   *node
		name   string
		all    []int64
		any    any
		by     map[int64]*node
		atomic atomic.Pointer[[3]int64]
	}
	never := func(reflect.Type) bool { return false }
	size := int(reflect.TypeFor[node]().Size())
	a := &node{name: "four"}
	require.Equal(t, size+4, bytes(t, a, never))
	a.next = &node{next: a, any: a, all: make([]int64, 2, 10)}
	require.Equal(t, 2*size+4+80, bytes(t, a, never))
	a.all = a.next.all
	a.by = map[int64]*node{1: a, 2: a.next}
	a.atomic.Store(new([3]int64))
	require.Equal(t, 2*size+4+80+2*(8+int(reflect.TypeFor[*node]().Size()))+24, bytes(t, a, never))
	require.Equal(t, 0, bytes(t, a, func(t reflect.Type) bool { return t == reflect.TypeFor[*node]() }))
}

// bytes returns the size of all memory, and checks that the types have all of it.
func bytes(t *testing.T, root any, stops func(reflect.Type) bool) int {
	all, of := Bytes(root, stops)
	sum := 0
	for _, n := range of {
		sum += n
	}
	require.Equal(t, all, sum)
	return all
}
