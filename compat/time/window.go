package time

import (
	"sync/atomic"
	"time"
)

// window has the times of one window. Windows that are reach windows apart share one, and the later one takes it over.
// Its word is that of a times.
type window struct{ word atomic.Uint64 }

// times are what is known of a window.
type times struct {
	number uint64 // of the window, as far as there are bits
	offset uint64 // from its beginning to its earliest time
	count  uint64 // of its times
}

const (
	offsetBits = 20 // those of width
	countBits  = 20
	numberBits = 64 - offsetBits - countBits
	maxCount   = 1<<countBits - 1
)

func (t times) pack() uint64 { return (t.number<<offsetBits|t.offset)<<countBits | t.count }

// timesOf returns the times of the window that has at, and the word that they are from, which may be of an earlier window.
func (w *window) timesOf(at time.Duration) (t times, word uint64) {
	word = w.word.Load()
	t = times{word >> (offsetBits + countBits), word >> countBits & (1<<offsetBits - 1), word & maxCount}
	if number := uint64(at/width) & (1<<numberBits - 1); t.number != number {
		t = times{number: number}
	}
	return t, word
}

// add adds at, and returns how many times there were.
func (w *window) add(at time.Duration) (before uint64) {
	for {
		t, word := w.timesOf(at)
		before = t.count
		if offset := uint64(at % width); before == 0 || offset < t.offset {
			t.offset = offset
		}
		t.count = min(before+1, maxCount)
		if w.word.CompareAndSwap(word, t.pack()) {
			return before
		}
	}
}

// remove removes a time that was added. If it was the earliest, the window keeps it as long as it has others.
func (w *window) remove(at time.Duration) {
	for {
		t, word := w.timesOf(at)
		if t.count == 0 {
			return // the window has passed
		}
		t.count--
		if w.word.CompareAndSwap(word, t.pack()) {
			return
		}
	}
}

// first returns the earliest time of the window that has at, or never.
func (w *window) first(at time.Duration) time.Duration {
	t, _ := w.timesOf(at)
	if t.count == 0 {
		return never
	}
	return at/width*width + time.Duration(t.offset)
}
