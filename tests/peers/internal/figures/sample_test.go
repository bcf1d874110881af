package figures

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuantile(t *testing.T) {
	ten := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for q, want := range map[float64]int{
		0: 1, 0.05: 1, 0.1: 1, 0.11: 2, 0.5: 5, 0.51: 6, 0.9: 9, 0.91: 10, 0.99: 10, 1: 10,
	} {
		require.Equal(t, want, Quantile(ten, q), "quantile %v", q)
	}
	for _, q := range []float64{0, 0.5, 1} {
		require.Equal(t, 7, Quantile([]int{7}, q), "quantile %v of one", q)
	}
}

func TestMedian(t *testing.T) {
	values := []int{5, 1, 9}
	require.Equal(t, 5, Median(values))
	require.Equal(t, []int{5, 1, 9}, values, "Median must not sort its argument")
	require.Equal(t, 2, Median([]int{4, 2, 1, 3}), "Median must return the lower of two middle values")
}
