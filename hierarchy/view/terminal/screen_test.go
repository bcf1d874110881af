package terminal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// page returns a screen that is not a terminal, and the buffer it writes to.
func page() (*Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return New(&out, os.Getenv), &out
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
		"fires 5" + NoBreak + "ms later": {"fires", "5" + NoBreak + "ms", "later"},
	} {
		require.Equal(t, want, wrap(text, 8), "%q", text)
	}
}

func TestSay(t *testing.T) {
	s, out := page()
	s.Say("It took %s,\n\t\tnot %d.", Span(5_000_000), 7)
	require.Equal(t, "  It took 5 ms, not 7.\n", out.String())
	s.Say("%s", strings.Repeat("word ", 40))
	for l := range strings.Lines(out.String()) {
		require.LessOrEqual(t, Columns(l), Width+1)
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
	for _, s := range []*Screen{
		New(file, none), New(&bytes.Buffer{}, none), New(device, is("TERM", "dumb")),
	} {
		require.False(t, s.live)
		require.False(t, s.colour)
	}
	if !New(device, none).live {
		t.Skip("there is no device that looks like a terminal")
	}
	require.False(t, New(device, is("NO_COLOR", "1")).colour)
	require.True(t, New(device, is("NO_COLOR", "1")).live)
}

func TestPaint(t *testing.T) {
	s, _ := page()
	require.Equal(t, "text", s.Paint(Bold, "text"))
	s.colour = true
	require.Equal(t, "\x1b[1mtext\x1b[0m", s.Paint(Bold, "text"))
	require.Equal(t, "text", s.Paint(Plain, "text"))
	require.Equal(t, "", s.Paint(Bold, ""))
}

func TestProgressWithoutATerminal(t *testing.T) {
	s, out := page()
	p := s.Progress("setting timers", 10)
	for i := range 11 {
		p.At(i)
	}
	p.End()
	require.Empty(t, out.String())
}

// TestProgressOnATerminal checks that the line is redrawn in place, fits the width, and is
// removed at the end.
func TestProgressOnATerminal(t *testing.T) { synctest.Test(t, testProgressOnATerminal) }

func testProgressOnATerminal(t *testing.T) {
	s, out := page()
	s.live = true
	p := s.Progress("setting timers", 10)
	p.At(5)
	time.Sleep(redraw - 1) // in the bubble's time
	p.At(6)                // too soon to redraw
	p.At(10)
	p.End()
	p.End()
	drawn := strings.Split(out.String(), "\r")
	require.Len(t, drawn, 5, "%q", drawn)
	require.Regexp(t, regexp.MustCompile(`^  setting timers +█{15}·{15}  50 %$`), drawn[1])
	require.Regexp(t, regexp.MustCompile(`^  setting timers +█{30} 100 %$`), drawn[2])
	require.Equal(t, blank(Columns(drawn[2])), drawn[3])
	require.Empty(t, drawn[4])
	require.Less(t, Columns(drawn[2]), Width)
	require.NotContains(t, out.String(), "\x1b")
}

func TestProgressOfNothing(t *testing.T) {
	s, out := page()
	s.live = true
	p := s.Progress("nothing", 0)
	p.At(0)
	p.End()
	require.Contains(t, out.String(), "nothing")
}

// full fails every write, as a full disk does.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("it is full") }

func TestWritesThatFail(t *testing.T) {
	s := New(full{}, os.Getenv)
	s.Say("lost")
	s.Line("lost too")
	require.EqualError(t, s.err, "it is full")
}

// TestProgressWithoutAnEnd checks that the line has a number where the total is not known.
func TestProgressWithoutAnEnd(t *testing.T) {
	var b strings.Builder
	p := (&Screen{out: &b, live: true}).Progress("timers", -1)
	p.At(1234)
	require.Equal(t, "\r  1,234 timers", b.String())
	p.End()
	require.Equal(t, "\r  1,234 timers\r"+strings.Repeat(" ", 14)+"\r", b.String())
}
