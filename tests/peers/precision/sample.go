package main

import "cmp"

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
