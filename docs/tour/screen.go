package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// width is the greatest length of a line in columns; indent is how a line begins.
const (
	width  = 80
	indent = "  "
)

// screen is what the tour writes to. A terminal gets colours and progress lines. A pipe or
// a file gets the same text without them.
type screen struct {
	out    io.Writer
	live   bool // lines can be redrawn
	colour bool
	err    error // of the first write that failed
}

// newScreen chooses colours and progress lines by the kind of out and by the environment.
func newScreen(out io.Writer, env func(string) string) *screen {
	f, ok := out.(*os.File)
	if !ok {
		return &screen{out: out}
	}
	info, err := f.Stat()
	live := err == nil && info.Mode()&os.ModeCharDevice != 0 && env("TERM") != "dumb"
	// A Windows console may print escape codes as text, and only a Windows system call can
	// tell whether it does.
	colour := live && env("NO_COLOR") == "" && runtime.GOOS != "windows"
	return &screen{out: out, live: live, colour: colour}
}

// style is the escape code of a colour or weight.
type style string

const (
	plain  style = ""
	bold   style = "1"
	faint  style = "2"
	ours   style = "32" // green, for a wheel
	theirs style = "33" // yellow, for everything that is compared with it
)

func (s *screen) paint(st style, text string) string {
	if !s.colour || st == plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// line writes a line without wrapping it.
func (s *screen) line(text string) { s.write(strings.TrimRight(text, " ") + "\n") }

func (s *screen) write(text string) {
	if _, err := io.WriteString(s.out, strings.ReplaceAll(text, noBreak, " ")); err != nil && s.err == nil {
		s.err = err
	}
}

// heading begins a section.
func (s *screen) heading(text string) {
	s.line("")
	s.line(s.paint(bold, text))
	s.line(s.paint(faint, strings.Repeat("─", columns(text))))
}

// say writes a paragraph, wrapped to the width.
func (s *screen) say(format string, args ...any) {
	for _, l := range wrap(fmt.Sprintf(format, args...), width-len(indent)) {
		s.line(indent + l)
	}
}

// wrap breaks text at blanks into lines of at most the given number of columns.
func wrap(text string, most int) (lines []string) {
	l := ""
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n", r) }) {
		switch {
		case l == "":
			l = word
		case columns(l)+1+columns(word) <= most:
			l += " " + word
		default:
			lines = append(lines, l)
			l = word
		}
	}
	if l != "" {
		lines = append(lines, l)
	}
	return lines
}

// noBreak is a space that is never a line break. It stands between a number and its unit.
const noBreak = "\u00a0"
