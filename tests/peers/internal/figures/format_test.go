package figures

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                          "0 ns",
		7:                          "7 ns",
		999:                        "999 ns",
		1000:                       "1.0 µs",
		7449:                       "7.4 µs",
		9949:                       "9.9 µs",
		9950:                       "9.9 µs",
		9951:                       "10 µs",
		74_100:                     "74 µs",
		741_000:                    "741 µs",
		999_499:                    "999 µs",
		999_501:                    "1.0 ms",
		time.Millisecond:           "1.0 ms",
		20 * time.Millisecond:      "20 ms",
		999_600 * time.Microsecond: "1.0 s",
		time.Second:                "1.0 s",
		90 * time.Minute:           "5400 s",
	} {
		require.Equal(t, want, Duration(d), "%d ns", d)
	}
}

func TestDurationTick(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1:                      "1 ns",
		100:                    "100 ns",
		time.Microsecond:       "1 µs",
		10 * time.Microsecond:  "10 µs",
		100 * time.Microsecond: "100 µs",
		time.Millisecond:       "1 ms",
		100 * time.Millisecond: "100 ms",
		10 * time.Second:       "10 s",
	} {
		require.Equal(t, want, DurationTick(d))
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1,000", 12_345: "12,345", 100_000: "100,000", 10_000_000: "10,000,000",
	} {
		require.Equal(t, want, Count(n))
	}
}

func TestCountTick(t *testing.T) {
	for n, want := range map[int]string{
		1: "1", 100: "100", 1000: "1k", 100_000: "100k", 1_000_000: "1M", 10_000_000: "10M",
	} {
		require.Equal(t, want, CountTick(n))
	}
}
