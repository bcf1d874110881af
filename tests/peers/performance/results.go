package main

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

var errNothing = errors.New("no benchmark printed a result")

// results holds the measured values by benchmark and unit, with one value per round.
type results map[string]map[string][]float64

// read parses the output of benchmarks.
func read(raw io.Reader) (results, error) {
	r := make(results)
	reader := benchfmt.NewReader(raw, "benchmarks")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			r.add(record)
		case *benchfmt.SyntaxError:
			return nil, record
		}
	}
	if len(r) == 0 && reader.Err() == nil {
		return nil, errNothing
	}
	return r, reader.Err()
}

// add keeps the values in the units that were printed, not in seconds.
func (r results) add(record *benchfmt.Result) {
	name := string(record.Name.Full())
	if _, parts := record.Name.Parts(); len(parts) > 0 {
		if last := string(parts[len(parts)-1]); strings.HasPrefix(last, "-") {
			name = strings.TrimSuffix(name, last) // last is the number of processors
		}
	}
	if r[name] == nil {
		r[name] = make(map[string][]float64)
	}
	for _, v := range record.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		r[name][unit] = append(r[name][unit], value)
	}
}

// median returns the median over all rounds, or NaN if there is no value.
func (r results) median(b benchmark, unit string) float64 {
	values := r[b.String()][unit]
	if len(values) == 0 {
		return math.NaN()
	}
	return figures.Median(values)
}

// measured reports whether there are results of the family.
func (r results) measured(family string) bool {
	for name := range r {
		if strings.HasPrefix(name, family+"/") {
			return true
		}
	}
	return false
}

// numbers returns the n with which the family was measured for impl, in ascending order.
func (r results) numbers(family, impl string) []int {
	var found []int
	for name := range r {
		if n, ok := strings.CutPrefix(name, family+"/impl="+impl+"/n="); ok {
			if n, err := strconv.Atoi(n); err == nil {
				found = append(found, n)
			}
		}
	}
	slices.Sort(found)
	return found
}
