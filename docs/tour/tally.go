package main

import (
	"math/bits"
	"time"
)

// tally counts millions of durations in little memory. Its quantiles are within a sixteenth
// of the exact value; the longest duration is exact.
type tally struct {
	counts  [64 * sixteenths]int64
	n       int64
	longest time.Duration
}

const sixteenths = 16

func (t *tally) add(d time.Duration) {
	t.counts[class(d)]++
	t.n++
	t.longest = max(t.longest, d)
}

// class returns the index in counts for d. Each duration below 16 ns has an index of its
// own; above, there are sixteen from each power of two to the next.
func class(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < sixteenths {
		return int(v)
	}
	power := bits.Len64(v) - 5 // v>>power is from 16 to 31
	return power*sixteenths + int(v>>power)
}

// ceiling returns the longest duration of a class.
func ceiling(class int) time.Duration {
	if class < sixteenths {
		return time.Duration(class)
	}
	power := class/sixteenths - 1
	return time.Duration((uint64(class%sixteenths+sixteenths+1) << power) - 1)
}

// quantile returns a duration that a share q of the durations does not exceed.
func (t *tally) quantile(q float64) time.Duration {
	rest := int64(q * float64(t.n))
	for c, n := range t.counts {
		if rest -= n; rest < 0 {
			return min(ceiling(c), t.longest)
		}
	}
	return t.longest
}
