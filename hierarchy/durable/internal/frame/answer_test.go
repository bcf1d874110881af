package frame

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is appended is read again, and nothing else is.
func TestAnswers(t *testing.T) {
	many := make([]bool, 17)
	many[0], many[8], many[16] = true, true, true
	parts := []struct {
		result Result
		took   []bool
		value  string
	}{
		{Done, []bool{true}, "value"}, {Done, []bool{false}, ""}, {Done, many, ""},
		{Full, make([]bool, 9), ""}, {Later, make([]bool, 1), ""}, {Refused, make([]bool, 3), ""}, {Done, nil, ""},
		{Done, []bool{true}, strings.Repeat("v", 300)},
	}
	var b []byte
	for _, p := range parts {
		b = AppendAnswer(b, p.result, p.took, p.value)
	}
	rest := b
	for _, p := range parts {
		took := make([]bool, len(p.took))
		for i := range took {
			took[i] = true
		}
		r, value, after, ok := CutAnswer(rest, took)
		require.True(t, ok)
		require.Equal(t, p.result, r)
		require.Equal(t, p.value, string(value))
		require.Equal(t, p.took, append([]bool(nil), took...))
		for n := range len(rest) - len(after) {
			_, _, _, ok := CutAnswer(rest[:n], took)
			require.False(t, ok)
		}
		_, _, _, ok = CutAnswer(rest, make([]bool, len(took)+1))
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
