package terminal

import (
	"slices"
	"time"
)

// Delays are measured durations.
type Delays []time.Duration

// Sort sorts l in place, as Quantile needs it.
func (l Delays) Sort() { slices.Sort(l) }

// Quantile returns the duration that a share q of the delays does not exceed. l must be sorted.
func (l Delays) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(q*float64(len(l))), len(l)-1)]
}

// Within returns the number of delays that are at least from and less than to.
func (l Delays) Within(from, to time.Duration) (n int) {
	for _, d := range l {
		if from <= d && d < to {
			n++
		}
	}
	return n
}

// Class is a line of a histogram: the delays from From on, below Limit.
type Class struct {
	Name        string
	From, Limit time.Duration
}

// Classes returns the lines of a histogram: one for each limit, and one for the delays above the last limit.
func Classes(limits ...time.Duration) (all []Class) {
	from := time.Duration(0)
	for i, to := range limits {
		name := "to " + Span(to)
		if i == 0 {
			name = "below " + Span(to)
		}
		all = append(all, Class{name, from, to})
		from = to
	}
	return append(all, Class{"more", from, 1<<63 - 1})
}

// Some formats n, or returns an empty string for 0.
func Some(n int) string {
	if n == 0 {
		return ""
	}
	return Count(n)
}
