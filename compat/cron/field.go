package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// bounds are the values that a field can have, and their names.
type bounds struct {
	min, max uint
	names    map[string]uint
}

var (
	seconds = bounds{0, 59, nil}
	minutes = bounds{0, 59, nil}
	hours   = bounds{0, 23, nil}
	dom     = bounds{1, 31, nil}
	months  = bounds{1, 12, numbered(1, "jan feb mar apr may jun jul aug sep oct nov dec")}
	dow     = bounds{0, 6, numbered(0, "sun mon tue wed thu fri sat")}
)

// numbered gives the names the numbers from first on.
func numbered(first uint, names string) map[string]uint {
	numbers := map[string]uint{}
	for i, name := range strings.Fields(names) {
		numbers[name] = first + uint(i)
	}
	return numbers
}

// The fields are not read by hierarchy/schedule, which refuses some of what robfig/cron reads: empty items, and steps that
// are wider than the field. It also takes 7 for Sunday, which is an error here.

// getField returns the values of a list of ranges, separated by commas.
func getField(field string, r bounds) (uint64, error) {
	var values uint64
	for item := range strings.SplitSeq(field, ",") {
		if item == "" {
			continue
		}
		s, err := getRange(item, r)
		if err != nil {
			return values, err
		}
		values |= s
	}
	return values, nil
}

// getRange returns the values of a star, a number or a range, perhaps with a step, as in "*", "7", "1-5" and "10-40/10".
// The star's bit is set for a star without a step.
func getRange(expr string, r bounds) (uint64, error) {
	of, by, stepped := strings.Cut(expr, "/")
	low, high, isRange := strings.Cut(of, "-")
	if strings.Contains(by, "/") {
		return 0, fmt.Errorf("too many slashes: %s", expr)
	}
	start, end, star := r.min, r.max, uint64(0)
	if low == "*" || low == "?" {
		star = starBit
	} else {
		var err error
		if start, end, err = getEnds(expr, low, high, isRange, r); err != nil {
			return 0, err
		}
	}
	step := uint(1)
	if stepped {
		var err error
		if step, err = mustParseInt(by); err != nil {
			return 0, err
		}
		if !isRange {
			end = r.max
		}
		if step > 1 {
			star = 0
		}
	}
	if err := checkRange(expr, start, end, step, r); err != nil {
		return 0, err
	}
	return getBits(start, end, step) | star, nil
}

// getEnds returns the first and the last value of a number or a range.
func getEnds(expr, low, high string, isRange bool, r bounds) (start, end uint, err error) {
	if start, err = parseIntOrName(low, r.names); err != nil || !isRange {
		return start, start, err
	}
	if strings.Contains(high, "-") {
		return 0, 0, fmt.Errorf("too many hyphens: %s", expr)
	}
	end, err = parseIntOrName(high, r.names)
	return start, end, err
}

func checkRange(expr string, start, end, step uint, r bounds) error {
	switch {
	case start < r.min:
		return fmt.Errorf("beginning of range (%d) below minimum (%d): %s", start, r.min, expr)
	case end > r.max:
		return fmt.Errorf("end of range (%d) above maximum (%d): %s", end, r.max, expr)
	case start > end:
		return fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", start, end, expr)
	case step == 0:
		return fmt.Errorf("step of range should be a positive number: %s", expr)
	}
	return nil
}

// parseIntOrName returns the number in expr, or the number of the name.
func parseIntOrName(expr string, names map[string]uint) (uint, error) {
	if n, ok := names[strings.ToLower(expr)]; ok {
		return n, nil
	}
	return mustParseInt(expr)
}

func mustParseInt(expr string) (uint, error) {
	n, err := strconv.Atoi(expr)
	if err != nil {
		return 0, fmt.Errorf("failed to parse int from %s: %w", expr, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("negative number (%d) not allowed: %s", n, expr)
	}
	return uint(n), nil
}

// getBits returns the set of every step-th value from low to high.
func getBits(low, high, step uint) (values uint64) {
	for v := low; v <= high; v += step {
		values |= 1 << v
	}
	return values
}

// all returns the values of a star.
func all(r bounds) uint64 { return getBits(r.min, r.max, 1) | starBit }
