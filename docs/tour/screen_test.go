package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page returns a screen that is not a terminal, and the buffer it writes to.
func page() (*screen, *bytes.Buffer) {
	var out bytes.Buffer
	return newScreen(&out, os.Getenv), &out
}

func TestWrap(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		" \n\t ":                         nil,
		"one":                            {"one"},
		"one two":                        {"one two"},
		"one two three":                  {"one two", "three"},
		"one\n\t\ttwo  three":            {"one two", "three"},
		"a lot longer-than-this":         {"a lot", "longer-than-this"},
		"µµµ µµµ µ":                      {"µµµ µµµ", "µ"},
		"fires 5" + noBreak + "ms later": {"fires", "5" + noBreak + "ms", "later"},
	} {
		require.Equal(t, want, wrap(text, 8), "%q", text)
	}
}

func TestSay(t *testing.T) {
	s, out := page()
	s.say("It took %s,\n\t\tnot %d.", span(5_000_000), 7)
	require.Equal(t, "  It took 5 ms, not 7.\n", out.String())
	s.say("%s", strings.Repeat("word ", 40))
	for l := range strings.Lines(out.String()) {
		require.LessOrEqual(t, columns(l), width+1)
	}
}

// TestWhatIsATerminal checks that only terminals get colours and progress lines, and only
// if the environment allows them.
func TestWhatIsATerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer device.Close()
	none := func(string) string { return "" }
	is := func(name, value string) func(string) string {
		return func(n string) string { return map[string]string{name: value}[n] }
	}
	for _, s := range []*screen{
		newScreen(file, none), newScreen(&bytes.Buffer{}, none), newScreen(device, is("TERM", "dumb")),
	} {
		require.False(t, s.live)
		require.False(t, s.colour)
	}
	if !newScreen(device, none).live {
		t.Skip("there is no device that looks like a terminal")
	}
	require.False(t, newScreen(device, is("NO_COLOR", "1")).colour)
	require.True(t, newScreen(device, is("NO_COLOR", "1")).live)
}

func TestPaint(t *testing.T) {
	s, _ := page()
	require.Equal(t, "text", s.paint(bold, "text"))
	s.colour = true
	require.Equal(t, "\x1b[1mtext\x1b[0m", s.paint(bold, "text"))
	require.Equal(t, "text", s.paint(plain, "text"))
	require.Equal(t, "", s.paint(bold, ""))
}

func TestProgressWithoutATerminal(t *testing.T) {
	s, out := page()
	p := s.progress("setting timers", 10)
	for i := range 11 {
		p.at(i)
	}
	p.end()
	require.Empty(t, out.String())
}

// TestProgressOnATerminal checks that the line is redrawn in place, fits the width, and is
// removed at the end.
func TestProgressOnATerminal(t *testing.T) {
	s, out := page()
	s.live = true
	p := s.progress("setting timers", 10)
	p.at(5)
	p.at(6) // too soon to redraw
	p.at(10)
	p.end()
	p.end()
	drawn := strings.Split(out.String(), "\r")
	require.Len(t, drawn, 5, "%q", drawn)
	require.Regexp(t, regexp.MustCompile(`^  setting timers +█{15}·{15}  50 %$`), drawn[1])
	require.Regexp(t, regexp.MustCompile(`^  setting timers +█{30} 100 %$`), drawn[2])
	require.Equal(t, blank(columns(drawn[2])), drawn[3])
	require.Empty(t, drawn[4])
	require.Less(t, columns(drawn[2]), width)
	require.NotContains(t, out.String(), "\x1b")
}

func TestProgressOfNothing(t *testing.T) {
	s, out := page()
	s.live = true
	p := s.progress("nothing", 0)
	p.at(0)
	p.end()
	require.Contains(t, out.String(), "nothing")
}

// full fails every write, as a full disk does.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("it is full") }

func TestWritesThatFail(t *testing.T) {
	s := newScreen(full{}, os.Getenv)
	s.say("lost")
	s.line("lost too")
	require.EqualError(t, s.err, "it is full")
}
