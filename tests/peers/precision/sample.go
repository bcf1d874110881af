package main

import "cmp"

// step is a point of a cumulative distribution: percent of the values are at most value.
type step[T any] struct {
	value   T
	percent float64
}

// distribution returns the cumulative distribution of sorted values, from the least at 0 %
// to the greatest at 100 %. After the first point it has at most the given number of steps.
func distribution[T cmp.Ordered](sorted []T, steps int) []step[T] {
	steps = min(steps, len(sorted))
	d := []step[T]{{value: sorted[0]}}
	for i := range steps {
		last := len(sorted) * (i + 1) / steps // the number of values up to this step
		d = append(d, step[T]{sorted[last-1], 100 * float64(last) / float64(len(sorted))})
	}
	return d
}
