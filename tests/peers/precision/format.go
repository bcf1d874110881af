package main

import (
	"strconv"
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

// formatDuration writes d as prose does, with no more digits than mean anything:
// 7.4 µs, 74 µs, 741 µs.
func formatDuration(d time.Duration) string {
	unit := units[0]
	for _, u := range units[1:] {
		if formatDigits(d, unit.size) == "1000" || d >= u.size {
			unit = u
		}
	}
	return formatDigits(d, unit.size) + " " + unit.name
}

// formatDigits has one digit after the point below ten, except of what cannot
// have one.
func formatDigits(d, unit time.Duration) string {
	v := float64(d) / float64(unit)
	if text := strconv.FormatFloat(v, 'f', 1, 64); unit > time.Nanosecond && len(text) == len("9.9") {
		return text
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// formatTick writes a power of ten: 1 µs, 10 µs, 100 µs.
func formatTick(d time.Duration) string {
	unit := units[0]
	for _, u := range units[1:] {
		if d >= u.size {
			unit = u
		}
	}
	return strconv.FormatInt(int64(d/unit.size), 10) + " " + unit.name
}

// formatRate writes a number of times per second, or a dash for none.
func formatRate(perSecond float64) string {
	if perSecond == 0 {
		return "–"
	}
	return strconv.FormatFloat(perSecond, 'f', 0, 64)
}
