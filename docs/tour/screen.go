package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// width is what a line has at most, in columns; indent is what it begins with.
const (
	width  = 80
	indent = "  "
)

// screen is where the tour is written to: a terminal, or a pipe or file, which gets
// the same lines without colour and without what is drawn over.
type screen struct {
	out    io.Writer
	live   bool // lines can be drawn over
	colour bool
	err    error // of the first write that failed
}

// newScreen looks at what out is, and at the environment.
func newScreen(out io.Writer, env func(string) string) *screen {
	f, ok := out.(*os.File)
	if !ok {
		return &screen{out: out}
	}
	info, err := f.Stat()
	live := err == nil && info.Mode()&os.ModeCharDevice != 0 && env("TERM") != "dumb"
	// A console of Windows may show escape codes as letters, and to ask it takes
	// calls of that system alone.
	colour := live && env("NO_COLOR") == "" && runtime.GOOS != "windows"
	return &screen{out: out, live: live, colour: colour}
}

// style is how something is shown where there is colour.
type style string

const (
	plain  style = ""
	bold   style = "1"
	faint  style = "2"
	ours   style = "32" // green: what a wheel did
	theirs style = "33" // yellow: what something else did
)

func (s *screen) paint(st style, text string) string {
	if !s.colour || st == plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// line writes a line as it is.
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

// say writes a paragraph, in lines that fit.
func (s *screen) say(format string, args ...any) {
	for _, l := range wrap(fmt.Sprintf(format, args...), width-len(indent)) {
		s.line(indent + l)
	}
}

// wrap breaks text at blanks into lines of at most so many columns.
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

// noBreak is a blank at which no line breaks, between a number and its unit.
const noBreak = "\u00a0"
