package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count formats a number with commas between the thousands: 13,950.
func Count[N int | int64 | uint64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// units are the units of Span. Each has its length in nanoseconds, and the limit from which
// the next unit is used.
var units = []struct {
	name  string
	ns    float64
	limit float64
}{
	{"ns", 1, 999.5},
	{"µs", 1e3, 999.5},
	{"ms", 1e6, 999.5},
	{"s", 1e9, 119.5},
	{"min", 60e9, 119.5},
	{"h", 3600e9, 47.5},
	{"days", 24 * 3600e9, 729.5},
	{"years", 365 * 24 * 3600e9, 0},
}

// Span formats a duration with three digits in the most suitable unit, up to years:
// 262 µs, 1.07 s, 37.4 years.
func Span(d time.Duration) string { return Nanoseconds(float64(d)) }

// Nanoseconds is like Span, for a mean that may have a fraction.
func Nanoseconds(ns float64) string {
	if ns == 0 {
		return "0"
	}
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	for _, u := range units {
		if v := ns / u.ns; v < u.limit || u.limit == 0 {
			return sign + threeDigits(v) + NoBreak + u.name
		}
	}
	return ""
}

// threeDigits formats v with enough decimals for three digits, without trailing zeros.
func threeDigits(v float64) string {
	decimals := 0
	switch {
	case v < 9.995:
		decimals = 2
	case v < 99.95:
		decimals = 1
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Each formats the mean time of n operations that together took total.
func Each(total time.Duration, n int) string {
	ns := float64(total) / float64(max(n, 1))
	if ns < 999.5 {
		return fmt.Sprintf("%.0f%sns", ns, NoBreak)
	}
	return Nanoseconds(ns)
}

// Amount formats a size in bytes.
func Amount(bytes int64) string {
	switch v := float64(max(bytes, 0)); {
	case v < 1e3:
		return fmt.Sprintf("%.0f%sbytes", v, NoBreak)
	case v < 999.5e3:
		return threeDigits(v/1e3) + NoBreak + "KB"
	case v < 999.5e6:
		return threeDigits(v/1e6) + NoBreak + "MB"
	default:
		return threeDigits(v/1e9) + NoBreak + "GB"
	}
}
