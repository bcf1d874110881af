package main

import (
	"fmt"
	"io"
	"strings"
)

// kind is why a file or a directory is left as it is.
type kind int

const (
	generated kind = iota + 1
	marked
	broken
	link
	module
	kinds
)

var kindNames = [kinds][2]string{
	generated: {"generated file", "generated files"},
	marked:    {"file with " + keep, "files with " + keep},
	broken:    {"file that can't be changed", "files that can't be changed"},
	link:      {"symbolic link", "symbolic links"},
	module:    {"nested module", "nested modules"},
}

// report prints what was changed, what was skipped, and what must be looked at, and then the numbers of these.
func report(out io.Writer, o options, files []*file, skipped []skip) {
	verb := "changed"
	if o.dry {
		verb = "would change"
	}
	changed := 0
	var notes []string
	for _, f := range files {
		if f.text != nil {
			changed++
			fmt.Fprintf(out, "%s %s\n", verb, f.name)
		}
		if f.skip.kind > 0 {
			skipped = append(skipped, f.skip)
		}
		notes = append(notes, f.notes...)
	}
	for _, s := range skipped {
		fmt.Fprintf(out, "skipped %s: %s\n", s.name, s.why)
	}
	for _, note := range notes {
		fmt.Fprintf(out, "look at %s\n", note)
	}
	fmt.Fprintf(out, "%s %d of %s\n", verb, changed, counted(len(files), "file", "files"))
	if len(skipped) > 0 {
		fmt.Fprintf(out, "skipped %s\n", countedKinds(skipped))
	}
	if len(notes) > 0 {
		fmt.Fprintf(out, "look at %s\n", counted(len(notes), "place", "places"))
	}
}

func countedKinds(skipped []skip) string {
	var numbers [kinds]int
	for _, s := range skipped {
		numbers[s.kind]++
	}
	var parts []string
	for kind, n := range numbers {
		if n > 0 {
			parts = append(parts, counted(n, kindNames[kind][0], kindNames[kind][1]))
		}
	}
	return strings.Join(parts, ", ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
