package terminal

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 999_999: "999,999", 13_950: "13,950",
		1_000_000: "1,000,000", -999: "-999", -1000: "-1,000",
		math.MaxInt64: "9,223,372,036,854,775,807",
	} {
		require.Equal(t, want, Count(n))
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                           "0",
		1:                           "1 ns",
		999:                         "999 ns",
		1000:                        "1 µs",
		4096:                        "4.1 µs",
		262_144:                     "262 µs",
		999_499:                     "999 µs",
		999_500:                     "1 ms",
		9_994_999:                   "9.99 ms",
		9_996_000:                   "10 ms",
		16_777_216:                  "16.8 ms",
		99_960_000:                  "100 ms",
		1 << 30:                     "1.07 s",
		119 * time.Second:           "119 s",
		2 * time.Minute:             "2 min",
		73 * time.Minute:            "73 min",
		2 * time.Hour:               "2 h",
		47 * time.Hour:              "47 h",
		48 * time.Hour:              "2 days",
		729 * 24 * time.Hour:        "729 days",
		730 * 24 * time.Hour:        "2 years",
		100 * 365 * 24 * time.Hour:  "100 years",
		math.MaxInt64:               "292 years",
		-1500:                       "-1.5 µs",
		-time.Hour - 30*time.Minute: "-90 min",
	} {
		require.Equal(t, want, strings.ReplaceAll(Span(d), NoBreak, " "))
	}
}

func TestEach(t *testing.T) {
	for want, got := range map[string]string{
		"64 ns":  Each(64_400_000, 1_000_000),
		"0 ns":   Each(0, 10),
		"1.5 µs": Each(1500, 1),
		"1 µs":   Each(999_600, 1000),
		"5 ns":   Each(5, 0),
	} {
		require.Equal(t, want, strings.ReplaceAll(got, NoBreak, " "))
	}
}

func TestAmount(t *testing.T) {
	for bytes, want := range map[int64]string{
		-5: "0 bytes", 0: "0 bytes", 41: "41 bytes", 999: "999 bytes", 1000: "1 KB",
		104_300: "104 KB", 999_499: "999 KB", 999_500: "1 MB", 40_960_000: "41 MB", 2_500_000_000: "2.5 GB",
	} {
		require.Equal(t, want, strings.ReplaceAll(Amount(bytes), NoBreak, " "))
	}
}
