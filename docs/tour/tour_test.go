package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// TestTour runs the whole tour, with output to a pipe.
func TestTour(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, terminal.ExitOK, run([]string{"-short"}, &out, &errs), errs.String())
	require.Empty(t, errs.String())
	text := out.String()
	from := 0
	for _, heading := range []string{
		"Epicycle: ", "1. Setting 100,000 timers", "2. Cancelling them, all 100,000",
		"3. How late a timer is", "4. 25,000 timers due at one instant", "5. A year in a second",
		"6. Moving a timer", "What was measured",
	} {
		at := strings.Index(text[from:], "\n"+strings.TrimSpace(heading))
		if from == 0 {
			at = strings.Index(text, heading)
		}
		require.GreaterOrEqual(t, at, 0, "%s\n%s", heading, text)
		from += at
	}
	for l := range strings.Lines(text) {
		require.True(t, strings.HasSuffix(l, "\n"))
		require.LessOrEqual(t, terminal.Columns(l)-1, terminal.Width, "%s", l)
		require.Equal(t, strings.TrimRight(l, " \n"), strings.TrimSuffix(l, "\n"))
	}
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\r")
	require.NotContains(t, text, "\t")
	require.NotContains(t, text, terminal.NoBreak)
	require.NotContains(t, text, "%!")
	require.Equal(t, 2, strings.Count(text, "before their time"))
	require.Regexp(t, `before their time +0 early`, text)
	words := strings.Join(strings.Fields(text), " ")
	require.Contains(t, words, "100,000 timers ran: 0 early, 0 late by a nanosecond or more, 0 out of order")
	require.Contains(t, words, "That makes 100,000: none was lost")
	require.Contains(t, words, "go-zero fires 3,465 at the wrong tick, compat 0.")
}

// full fails every write, as a full disk does.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("it is full") }

// TestTourToNowhere checks that the tour fails if its output can't be written.
func TestTourToNowhere(t *testing.T) {
	var errs bytes.Buffer
	require.Equal(t, terminal.ExitFailed, run([]string{"-short"}, full{}, &errs))
	require.Equal(t, "tour: it is full\n", errs.String())
}
