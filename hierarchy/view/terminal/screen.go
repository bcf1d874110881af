// Package terminal formats the output of the commands of this project for a terminal, a pipe or a file: paragraphs,
// tables of figures, bars, and progress lines.
package terminal

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Width is the greatest length of a line in columns. Indent is the text with which lines of paragraphs begin.
const (
	Width  = 80
	Indent = "  "
)

// Screen is the output of a command. A terminal gets colours and progress lines. A pipe or a file gets the same text
// without them.
type Screen struct {
	out    io.Writer
	live   bool // whether lines can be redrawn
	colour bool
	err    error // error of the first write that failed
}

// New chooses colours and progress lines by the kind of out and by the environment.
func New(out io.Writer, env func(string) string) *Screen {
	f, ok := out.(*os.File)
	if !ok {
		return &Screen{out: out}
	}
	info, err := f.Stat()
	live := err == nil && info.Mode()&os.ModeCharDevice != 0 && env("TERM") != "dumb"
	// A Windows console may print escape codes as text, and only a Windows system call can
	// tell whether it does.
	colour := live && env("NO_COLOR") == "" && runtime.GOOS != "windows"
	return &Screen{out: out, live: live, colour: colour}
}

// Style is the escape code of a colour or weight.
type Style string

// The styles. Plain has no colour and no weight.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Green  Style = "32" // for this project's own figures, and for good results
	Yellow Style = "33" // for the figures of others, and for results that are not so good
)

// Err returns the error of the first write that failed.
func (s *Screen) Err() error { return s.err }

// Paint returns text in a style, if out has colours.
func (s *Screen) Paint(st Style, text string) string {
	if !s.colour || st == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// Line writes a line without wrapping it.
func (s *Screen) Line(text string) { s.Write(strings.TrimRight(text, " ") + "\n") }

// Write writes text. Each NoBreak becomes a blank.
func (s *Screen) Write(text string) {
	if _, err := io.WriteString(s.out, strings.ReplaceAll(text, NoBreak, " ")); err != nil && s.err == nil {
		s.err = err
	}
}

// Heading begins a section.
func (s *Screen) Heading(text string) {
	s.Line("")
	s.Line(s.Paint(Bold, text))
	s.Line(s.Paint(Faint, strings.Repeat("─", Columns(text))))
}

// Say writes a paragraph, wrapped to the width.
func (s *Screen) Say(format string, args ...any) {
	for _, l := range wrap(fmt.Sprintf(format, args...), Width-len(Indent)) {
		s.Line(Indent + l)
	}
}

// wrap breaks text at blanks into lines of at most the given number of columns.
func wrap(text string, most int) (lines []string) {
	l := ""
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n", r) }) {
		switch {
		case l == "":
			l = word
		case Columns(l)+1+Columns(word) <= most:
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

// NoBreak is a space that is never a line break. It stands between a number and its unit.
const NoBreak = "\u00a0"
