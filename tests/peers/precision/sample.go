package main

import (
	"cmp"
	"math"
	"slices"
)

// quantile is the least of the values that at least a share q of them don't
// exceed. The values must be in ascending order, and not none.
func quantile[T cmp.Ordered](sorted []T, q float64) T {
	reached := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(1, reached)-1]
}

// median is the middle value, or the lower of the two.
func median[T cmp.Ordered](values []T) T { return quantile(slices.Sorted(slices.Values(values)), 0.5) }

// step is a point of a cumulative distribution: so much per cent of the values
// are at most value.
type step[T any] struct {
	value   T
	percent float64
}

// distribution is the cumulative distribution of sorted values, from their
// least at 0 % to their greatest at 100 %, in at most so many steps more.
func distribution[T cmp.Ordered](sorted []T, steps int) []step[T] {
	steps = min(steps, len(sorted))
	d := []step[T]{{value: sorted[0]}}
	for i := range steps {
		last := len(sorted) * (i + 1) / steps // how many values are reached
		d = append(d, step[T]{sorted[last-1], 100 * float64(last) / float64(len(sorted))})
	}
	return d
}
