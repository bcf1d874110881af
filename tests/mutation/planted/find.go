package planted

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// spot is a part of a file that is to be replaced, and the names that differ between that part and the entry.
type spot struct {
	file     source
	from, to int
	in       string // the declaration that has the part; "" if there is none
	renamed  map[string]string
}

// find returns the spot in the files that has the bug's old text. Comments, the width of space, and the names of files
// don't matter. The text may have moved to another function, or some of its names may have changed, as long as only one
// spot fits.
func (b *bug) find(files []source) (spot, error) {
	want, err := pattern(b.old)
	if err != nil {
		return spot{}, err
	}
	for _, renamed := range []bool{false, true} {
		for _, in := range slices.Compact([]string{b.in, ""}) {
			spots := spotsLike(files, want, in, renamed)
			if len(spots) == 1 {
				return spots[0], nil
			}
			if len(spots) > 1 {
				return spot{}, fmt.Errorf("the old text is there %d times, not once", len(spots))
			}
		}
	}
	return spot{}, errors.New("the old text is not there")
}

// pattern returns the tokens of text, which may be a part of a statement.
func pattern(text string) ([]lexeme, error) {
	all, err := lexemes(text)
	for len(all) > 0 && all[len(all)-1].text == ";" { // there is a semicolon wherever a line ends
		all = all[:len(all)-1]
	}
	if err == nil && len(all) == 0 {
		err = errors.New("the old text has no code")
	}
	return all, err
}

// spotsLike returns the spots of want in the declarations named in, or in all declarations if in is "".
func spotsLike(files []source, want []lexeme, in string, renamed bool) (spots []spot) {
	for _, f := range files {
		for i := 0; i+len(want) <= len(f.tokens); i++ {
			part := f.tokens[i : i+len(want)]
			names, ok := compare(want, part, renamed)
			if !ok {
				continue
			}
			s := spot{file: f, from: part[0].from, to: part[len(part)-1].to, renamed: names}
			s.in = f.declAt(s.from, s.to)
			if in == "" || in == s.in {
				spots = append(spots, s)
			}
		}
	}
	return spots
}

// declAt returns the name of the declaration that has the text between from and to.
func (f *source) declAt(from, to int) string {
	for _, d := range f.decls {
		if d.from <= from && to <= d.to {
			return d.name
		}
	}
	return ""
}

// compare reports whether got equals want. If allowed is true, up to half of the names may differ, by a consistent
// renaming. It returns the names that differ.
func compare(want, got []lexeme, allowed bool) (renamed map[string]string, ok bool) {
	names, olds := map[string]string{}, map[string]string{}
	same := 0
	for i, w := range want {
		g := got[i]
		if w.isName != g.isName || w.text != g.text && !(w.isName && allowed) {
			return nil, false
		}
		if !w.isName {
			continue
		}
		name, known := names[w.text]
		old, taken := olds[g.text]
		if known != taken || known && (name != g.text || old != w.text) {
			return nil, false
		}
		if !known && w.text == g.text {
			same++
		}
		names[w.text], olds[g.text] = g.text, w.text
	}
	if 2*same < len(names) {
		return nil, false
	}
	for old, name := range names {
		if old == name {
			delete(names, old)
		}
	}
	return names, true
}

// rename returns text with the names replaced.
func rename(text string, names map[string]string) string {
	if len(names) == 0 {
		return text
	}
	all, _ := lexemes(text) // the compiler finds the errors
	var out strings.Builder
	at := 0
	for _, x := range all {
		if name, ok := names[x.text]; ok && x.isName {
			out.WriteString(text[at:x.from] + name)
			at = x.to
		}
	}
	return out.String() + text[at:]
}
