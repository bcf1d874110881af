package state

import "math"

// Add returns t + d, for a time in nanoseconds since the Unix epoch. It stops at the ends of 64 bits instead of wrapping
// around, as timers may be set for the ends of time.
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

// Sub returns t - u, as Add.
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
