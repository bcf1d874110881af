package frame

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is appended is read again, and nothing else is.
func TestAnswers(t *testing.T) {
	many := make([]bool, 17)
	many[0], many[8], many[16] = true, true, true
	value, due := "value", AppendDue(nil, 1e12, 5)
	parts := []Answer{
		{Done, []bool{true}, nil, value}, {Done, []bool{false}, nil, ""}, {Done, many, bytes.Repeat(due, 3), ""},
		{Full, make([]bool, 9), nil, ""}, {Later, make([]bool, 1), nil, ""}, {Refused, make([]bool, 3), nil, ""},
		{Done, nil, nil, ""}, {Done, []bool{true}, due, strings.Repeat(value, 60)},
	}
	var b []byte
	for i := range parts {
		b = parts[i].Append(b)
	}
	rest := b
	for _, p := range parts {
		got := Answer{Took: make([]bool, len(p.Took)), Value: value, Dues: due}
		for i := range got.Took {
			got.Took[i] = true
		}
		after, ok := got.Cut(rest)
		require.True(t, ok)
		got.Took = append([]bool(nil), got.Took...)
		require.Equal(t, p, got)
		for n := range len(rest) - len(after) {
			_, ok := got.Cut(rest[:n])
			require.False(t, ok)
		}
		_, ok = (&Answer{Took: make([]bool, len(p.Took)+1)}).Cut(rest)
		require.False(t, ok)
		rest = after
	}
	require.Empty(t, rest)
}

// Values come back in their order, as many as have room. Of a list that is cut off, those before come back.
func TestValues(t *testing.T) {
	values := []string{"", "a", strings.Repeat("v", 300), "", "end"}
	list := AppendValues(nil, values, 1000)
	require.Equal(t, values, CutValues(nil, string(list)))
	require.Equal(t, []string{"before", ""}, CutValues([]string{"before"}, string(AppendValues(nil, values[:1], 1))))
	require.Empty(t, CutValues(nil, ""))
	fits := 0
	for room := -1; room <= len(list); room++ {
		some := AppendValues(nil, values, room)
		require.LessOrEqual(t, len(some), max(0, room))
		got := CutValues(nil, string(some))
		require.Equal(t, values[:len(got)], append([]string{}, got...))
		require.GreaterOrEqual(t, len(got), fits)
		fits = len(got)
		require.Equal(t, got, CutValues(nil, string(list[:max(0, room)]))) // what is cut off is not there
	}
	require.Equal(t, len(values), fits)
}
