package figures

import (
	"cmp"
	"math"
	"slices"
)

// Quantile is the least of the values that at least a share q of them don't
// exceed. The values must be in ascending order, and not none.
func Quantile[T cmp.Ordered](sorted []T, q float64) T {
	reached := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(1, reached)-1]
}

// Median is the middle value, or the lower of the two.
func Median[T cmp.Ordered](values []T) T { return Quantile(slices.Sorted(slices.Values(values)), 0.5) }
