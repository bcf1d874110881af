package figures

import (
	"strconv"
	"strings"
	"time"
)

var units = []struct {
	size time.Duration
	name string
}{
	{time.Nanosecond, "ns"},
	{time.Microsecond, "µs"},
	{time.Millisecond, "ms"},
	{time.Second, "s"},
}

// Duration formats d for prose, with significant digits only: 7.4 µs, 74 µs, 741 µs.
func Duration(d time.Duration) string {
	unit := units[0]
	for _, u := range units[1:] {
		if digits(d, unit.size) == "1000" || d >= u.size {
			unit = u
		}
	}
	return digits(d, unit.size) + " " + unit.name
}

// digits formats d in a unit. Values below ten have one digit after the point, except
// nanoseconds.
func digits(d, unit time.Duration) string {
	v := float64(d) / float64(unit)
	if text := strconv.FormatFloat(v, 'f', 1, 64); unit > time.Nanosecond && len(text) == len("9.9") {
		return text
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// DurationTick formats a power of ten: 1 µs, 10 µs, 100 µs.
func DurationTick(d time.Duration) string {
	unit := units[0]
	for _, u := range units[1:] {
		if d >= u.size {
			unit = u
		}
	}
	return strconv.FormatInt(int64(d/unit.size), 10) + " " + unit.name
}

// Count formats n with a comma between groups of three digits: 10,000,000.
func Count(n int) string {
	text := strconv.Itoa(n)
	var groups []string
	for ; len(text) > 3; text = text[:len(text)-3] {
		groups = append([]string{text[len(text)-3:]}, groups...)
	}
	return strings.Join(append([]string{text}, groups...), ",")
}

// CountTick formats a power of ten, short enough for an axis: 1, 10, 100, 1k, 10k, 100k,
// 1M.
func CountTick(n int) string {
	switch {
	case n >= 1_000_000:
		return strconv.Itoa(n/1_000_000) + "M"
	case n >= 1000:
		return strconv.Itoa(n/1000) + "k"
	default:
		return strconv.Itoa(n)
	}
}
