// Package instant reckons with times in nanoseconds since the Unix epoch. Its results stop at the
// ends of 64 bits instead of wrapping around, as timers may be set for the ends of time.
package instant

import "math"

// Plus is t + d.
func Plus(t, d int64) int64 {
	sum := t + d
	switch {
	case d > 0 && sum < t:
		return math.MaxInt64
	case d < 0 && sum > t:
		return math.MinInt64
	}
	return sum
}

// Minus is t - u.
func Minus(t, u int64) int64 {
	difference := t - u
	switch {
	case u < 0 && difference < t:
		return math.MaxInt64
	case u > 0 && difference > t:
		return math.MinInt64
	}
	return difference
}
