// Command drawing draws the pictures of circles in docs. It fills a wheel with timers and
// draws what its Circles method returns.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func main() {
	directory := flag.String("o", "docs", "directory to draw to")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "drawing: unexpected arguments %q\n", flag.Args())
		os.Exit(2)
	}
	for name, draw := range pictures {
		picture, err := draw()
		if err == nil {
			err = os.WriteFile(filepath.Join(*directory, name), []byte(picture), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "drawing:", err)
			os.Exit(1)
		}
	}
}

// pictures depend only on fixed seeds, so they are always the same.
var pictures = map[string]func() (string, error){
	"circles.svg": circles,
	"cascade.svg": cascade,
}

// circles draws a wheel with many timers, most of them near.
func circles() (string, error) {
	w, m, err := wheel()
	if err != nil {
		return "", err
	}
	defer w.Stop()
	r := rand.New(rand.NewPCG(7, 7))
	m.Add(41*time.Minute + 17*time.Second + 381*time.Millisecond)
	for range 20_000 {
		d := time.Duration(1) << uint(12+r.IntN(36))
		if _, err := w.AfterFunc(d+rand1(r, d), func() {}); err != nil {
			return "", err
		}
	}
	c := newCanvas(700, 700,
		"A wheel with 20,000 timers: seven circles of 64 slots, one inside the other. The innermost has slots of 4 µs, "+
			"the outermost of 3.3 days. The more timers a slot holds, the darker it is. Each circle has a hand.")
	drawRings(c, point{350, 350}, 48, 42, w.Circles()[2:9])
	return c.String(), nil
}

func rand1(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

// cascade draws a wheel with a crowd in one slot at three moments: when the slot is far ahead, when the hand has
// reached it, and a little later.
func cascade() (string, error) {
	w, m, err := wheel()
	if err != nil {
		return "", err
	}
	defer w.Stop()
	r := rand.New(rand.NewPCG(3, 3))
	const from = 8 << 30 // nanoseconds; a slot of the base circle begins here
	for range 1500 {
		if _, err := w.AfterFunc(from+time.Duration(r.Int64N(1<<30)), func() {}); err != nil {
			return "", err
		}
	}
	c := newCanvas(960, 370, "Three moments of a cascade: a crowd in one slot of the base circle; the same timers spread "+
		"over the finer circle when the hand has reached that slot; half of them gone half a turn later.")
	for i, moment := range []struct {
		at   time.Duration
		text string
	}{
		{from / 2, "a crowd ahead, in one slot of 1.07 s"},
		{from + 4<<20, "the hand is there: the slot has cascaded"},
		{from + 1<<29, "half a turn of the finer circle later"},
	} {
		m.Add(moment.at - m.Elapsed())
		center := point{160 + 320*float64(i), 160}
		drawRings(c, center, 58, 32, w.Circles()[3:6])
		c.text(point{center.x, 345}, "caption", moment.text)
	}
	return c.String(), nil
}

func wheel() (*hierarchy.Wheel, *clock.Mock, error) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	return w, m, err
}
