package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLatenessTable(t *testing.T) {
	late := []time.Duration{200, 3 * time.Microsecond, 45 * time.Microsecond}
	panels := []panel{
		{load: "idle", curves: []curve{{"a", late}, {"b", late[:1]}}},
		{load: "busy", curves: []curve{{"a", late[2:]}}},
	}
	require.Equal(t, `| load | implementation | 10 % | median | 90 % | 99 % | worst |
| --- | --- | --- | --- | --- | --- | --- |
| idle | a | 200 ns | 3.0 µs | 45 µs | 45 µs | 45 µs |
|  | b | 200 ns | 200 ns | 200 ns | 200 ns | 200 ns |
| busy | a | 45 µs | 45 µs | 45 µs | 45 µs | 45 µs |
`, latenessTable(panels))
}

func TestCostTable(t *testing.T) {
	ms := time.Millisecond
	costs := []cost{
		{"many", "a", []time.Duration{40 * ms, 30 * ms, 90 * ms}, []float64{0, 0, 0}},
		{"many", "b", []time.Duration{10 * ms, 12 * ms, 8 * ms}, []float64{990, 1000, 1010}},
		{"few", "a", []time.Duration{ms}, []float64{0}},
	}
	require.Equal(t, `| scenario | implementation | CPU per second | range | wake-ups per second | CPU per wake-up |
| --- | --- | --- | --- | --- | --- |
| many | a | 40 ms | 30 ms to 90 ms | – | – |
|  | b | 10 ms | 8.0 ms to 12 ms | 1000 | 10 µs |
| few | a | 1.0 ms | 1.0 ms to 1.0 ms | – | – |
`, costTable(costs))
}

func TestFormatRate(t *testing.T) {
	require.Equal(t, "–", formatRate(0))
	require.Equal(t, "20", formatRate(19.97))
	require.Equal(t, "9698", formatRate(9698.2))
}
