package salvage

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// chain is the frames of a log, in order, from where the log must begin, except those that are missing.
type chain struct {
	frames   []found
	cut      bool     // frames after the last one are missing
	problems []string // in words
}

func (c *chain) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// link puts the frames of a log in order, and finds what is missing. mark is nil if there is none.
func link(s *scanned, mark *storage.Mark) *chain {
	c := new(chain)
	last := uint64(0)
	for n := range s.frames {
		last = max(last, n)
	}
	if mark == nil {
		c.problem("its mark is missing: nothing says where it must end")
	}
	switch {
	case last > 0:
		c.back(s, last)
		if mark != nil {
			c.compare(s, mark)
		}
	case mark != nil && mark.Number == 0 && len(s.broken) == 0: // nothing was written yet
	case len(s.broken) > 0:
		c.problem("it has no whole frame%s", s.where(0, 0))
	default:
		c.problem("it has no frame")
	}
	return c
}

// back goes back from the last frame to the one where the log must begin.
func (c *chain) back(s *scanned, last uint64) {
	f := s.frames[last][0]
	begin := max(1, f.Begin)
	c.frames = append(c.frames, f)
	var missing []uint64
	next, between := &f, 0
	for n := last - 1; n >= begin; n-- {
		f, ok := before(s.frames[n], next, between > 0)
		if !ok {
			missing = append(missing, n)
			between++
			continue
		}
		if f.checksum == next.Previous { // between the two are only strangers' messages
			missing = missing[:len(missing)-between]
		} else {
			c.frames[len(c.frames)-1].after = true
		}
		c.frames = append(c.frames, f)
		next, between = &f, 0
	}
	slices.Reverse(c.frames)
	slices.Reverse(missing)
	for len(missing) > 0 {
		n := 1
		for n < len(missing) && missing[n] == missing[n-1]+1 {
			n++
		}
		c.lacks(s, missing[0], missing[n-1])
		missing = missing[n:]
	}
}

// before returns the frame that next follows. With any, if a frame between the two may be missing, it returns any
// frame.
func before(frames []found, next *found, any bool) (f found, ok bool) {
	i := slices.IndexFunc(frames, func(f found) bool { return f.checksum == next.Previous })
	if i < 0 && any && len(frames) > 0 {
		i = 0
	}
	if i < 0 {
		return f, false
	}
	return frames[i], true
}

// compare compares the end of the log with its mark.
func (c *chain) compare(s *scanned, mark *storage.Mark) {
	if last := c.frames[len(c.frames)-1].Number; mark.Number > last {
		c.lacks(s, last+1, mark.Number)
		c.cut = true
	}
	for i := range c.frames {
		if f := &c.frames[i]; f.Number == mark.Number && f.checksum != mark.Checksum {
			c.problem("frame %d is not the one that was acknowledged", f.Number)
			f.doubtful = true
		}
	}
}

// lacks adds the problem that these frames are missing.
func (c *chain) lacks(s *scanned, from, to uint64) {
	what := fmt.Sprintf("frame %d is missing", from)
	if to > from {
		what = fmt.Sprintf("frames %d to %d are missing", from, to)
	}
	c.problem("%s%s", what, s.where(from, to))
}

// where describes the places in the files that may hold one of those frames, or any frame if from is 0.
func (s *scanned) where(from, to uint64) string {
	var places []string
	for _, b := range s.broken {
		if b.number >= from && b.number <= to || from == 0 || b.number == 0 {
			places = append(places, fmt.Sprintf("%s, byte %d: %v", filepath.Base(b.file), b.offset, b.why))
		}
	}
	for n := from; n <= to && n > 0 && len(places) < 5; n++ {
		if others := s.frames[n]; len(others) > 0 {
			places = append(places, fmt.Sprintf("%s, byte %d: another frame %d", filepath.Base(others[0].file), others[0].offset, n))
		}
	}
	if len(places) == 0 {
		return ""
	}
	return " (" + strings.Join(places[:min(5, len(places))], "; ") + ")"
}
