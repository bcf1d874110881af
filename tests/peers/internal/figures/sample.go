package figures

import (
	"cmp"
	"math"
	"slices"
)

// Quantile returns the least value that at least a share q of the values do not exceed.
// The values must be in ascending order and not empty.
func Quantile[T cmp.Ordered](sorted []T, q float64) T {
	reached := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(1, reached)-1]
}

// Median returns the middle value, or the lower of the two middle values.
func Median[T cmp.Ordered](values []T) T { return Quantile(slices.Sorted(slices.Values(values)), 0.5) }
