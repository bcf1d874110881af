//go:build unix

package hierarchy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A benchmark that made no call, because the machine was too busy, has no figures, and goes on.
func TestReportOfCalls(t *testing.T) {
	none := testing.Benchmark(func(b *testing.B) { calls{}.report(b, "x") })
	require.Empty(t, none.Extra)
	one := testing.Benchmark(func(b *testing.B) { calls{time.Microsecond}.report(b, "x") })
	require.Equal(t, map[string]float64{"x-p99-µs": 1, "x-p99.9-µs": 1, "x-max-µs": 1}, one.Extra)
}
