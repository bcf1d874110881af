package state

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sums and differences are those of integers without end, up to the ends of 64 bits.
func TestAgainstBigIntegers(t *testing.T) {
	some := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 62, -2, -1, 0, 1, 2, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}
	bounded := func(x *big.Int) int64 {
		switch {
		case x.IsInt64():
			return x.Int64()
		case x.Sign() > 0:
			return math.MaxInt64
		}
		return math.MinInt64
	}
	for _, a := range some {
		for _, b := range some {
			x, y := big.NewInt(a), big.NewInt(b)
			require.Equal(t, bounded(new(big.Int).Add(x, y)), Add(a, b), "%d + %d", a, b)
			require.Equal(t, bounded(new(big.Int).Sub(x, y)), Sub(a, b), "%d - %d", a, b)
		}
	}
}
