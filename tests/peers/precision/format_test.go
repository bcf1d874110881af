package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFormatDuration(t *testing.T) {
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
		require.Equal(t, want, formatDuration(d), "%d ns", d)
	}
}

func TestFormatTick(t *testing.T) {
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
		require.Equal(t, want, formatTick(d))
	}
}

func TestFormatRate(t *testing.T) {
	require.Equal(t, "–", formatRate(0))
	require.Equal(t, "20", formatRate(19.97))
	require.Equal(t, "9698", formatRate(9698.2))
}
