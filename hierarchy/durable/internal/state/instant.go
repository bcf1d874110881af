package state

import "math"

// Add returns t + d, for a time t in nanoseconds since the Unix epoch. If the sum overflows, it returns the largest or
// smallest int64 instead of wrapping around, since timers may be set for any time.
func Add(t, d int64) int64 {
	sum := t + d
	switch {
	case d > 0 && sum < t:
		return math.MaxInt64
	case d < 0 && sum > t:
		return math.MinInt64
	}
	return sum
}

// Sub returns t - u. It treats overflow as Add does.
func Sub(t, u int64) int64 {
	difference := t - u
	switch {
	case u < 0 && difference < t:
		return math.MaxInt64
	case u > 0 && difference > t:
		return math.MinInt64
	}
	return difference
}
