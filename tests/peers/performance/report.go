package main

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// labels are what pictures and tables call what benchmarks name.
var labels = map[string]string{
	"time":                          "time.AfterFunc",
	"go-zero":                       "go-zero",
	"heap":                          "container/heap",
	"wheel":                         "Wheel",
	"of":                            "Of[int]",
	"keyed":                         "Keyed[int, int]",
	"compat":                        "compat",
	"wheel/executor=Inline":         "Wheel, Inline",
	"wheel/executor=Go":             "Wheel, Go",
	"wheel/executor=Pool64":         "Wheel, Pool(64)",
	"epicycle":                      "Wheel",
	"epicycle/precision=1µs/inline": "Wheel, Precision 1 µs, Inline",
}

// report is all tables in Markdown that there are results for, under a line that
// says what they are of.
func report(r results) string {
	parts := []string{fmt.Sprintf("%s on %s/%s with %d cores.\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))}
	for _, t := range []struct {
		family string
		table  func(results) [][]string
	}{
		{"SetStop", costTable},
		{"Reset", workTable},
		{"Burst", burstTable},
		{"Cascade", cascadeTable},
		{"ResetLatency", latencyTable},
		{"Memory", memoryTable},
	} {
		if r.measured(t.family) {
			parts = append(parts, figures.Table(t.table(r)))
		}
	}
	return strings.Join(parts, "\n")
}

// costTable has a row for each number of timers pending.
func costTable(r results) [][]string {
	head := []string{"pending"}
	for _, impl := range costImpls {
		head = append(head, labels[impl])
	}
	rows := [][]string{append(head, "Wheel to time")}
	for _, n := range r.numbers("SetStop", "time") {
		row := []string{figures.Count(n)}
		for _, impl := range costImpls {
			row = append(row, r.duration(benchmark{"SetStop", impl, n}, "ns/op", time.Nanosecond))
		}
		wheel, time := benchmark{"SetStop", "wheel", n}, benchmark{"SetStop", "time", n}
		rows = append(rows, append(row, r.ratio(wheel, time, "ns/op")))
	}
	return rows
}

// workTable is what package time is compared with in one figure each.
func workTable(r results) [][]string {
	empty := r.duration(benchmark{"GC", "empty", 0}, "ns/op", time.Nanosecond)
	rows := [][]string{{"a million pending", "time", "Wheel", "ratio"}}
	for _, w := range []struct {
		what, family, to, unit string
		scale                  time.Duration
	}{
		{"reset of a random timer to any time", "Reset", "/to=any", "ns/op", time.Nanosecond},
		{"keep-alive: reset to the same time from now", "Reset", "/to=keepalive", "ns/op", time.Nanosecond},
		{"full garbage collection; without timers " + empty, "GC", "", "ns/op", time.Nanosecond},
		{"setting them and their expiry over 2 s, CPU", "Expiry", "", "cpu-ms/op", time.Millisecond},
		{"resetting them at random and their expiry over 2 s, CPU", "ResetExpiry", "", "cpu-ms/op", time.Millisecond},
	} {
		if r.measured(w.family) {
			theirs, ours := benchmark{w.family, "time" + w.to, million}, benchmark{w.family, "epicycle" + w.to, million}
			rows = append(rows, []string{
				w.what, r.duration(theirs, w.unit, w.scale), r.duration(ours, w.unit, w.scale), r.ratio(ours, theirs, w.unit),
			})
		}
	}
	return rows
}

func burstTable(r results) [][]string {
	rows := [][]string{{
		"implementation", "all have run after", "calls meanwhile", "median", "99 %", "99.9 %", "longest",
	}}
	for _, n := range r.numbers("Burst", "time") {
		for _, impl := range burstImpls {
			b := benchmark{"Burst", impl, n}
			row := []string{
				labels[impl], r.duration(b, "ms/burst", time.Millisecond), figures.Count(int(r.median(b, "calls"))),
			}
			rows = append(rows, append(row,
				r.micros(b, "call-p50-µs", "over-0.01-µs", "over-0.001-µs", "call-max-µs")...))
		}
	}
	return rows
}

func cascadeTable(r results) [][]string {
	rows := [][]string{{
		"implementation", "crowd 99 %", "99.9 %", "worst", "1 ms timers 99 %", "worst",
	}}
	for _, impl := range cascadeImpls {
		rows = append(rows, append([]string{labels[impl]}, r.micros(benchmark{"Cascade", impl, million},
			"crowd-p99-µs", "crowd-p99.9-µs", "crowd-max-µs", "1ms-p99-µs", "1ms-max-µs")...))
	}
	return rows
}

func latencyTable(r results) [][]string {
	rows := [][]string{{"pending", "implementation", "99 %", "99.9 %", "longest"}}
	for _, n := range r.numbers("ResetLatency", "time") {
		for _, impl := range bothImpls {
			rows = append(rows, append([]string{figures.Count(n), labels[impl]}, r.micros(
				benchmark{"ResetLatency", impl, n}, "call-p99-µs", "call-p99.9-µs", "call-max-µs")...))
		}
	}
	return rows
}

func memoryTable(r results) [][]string {
	rows := [][]string{{"implementation", "bytes", "to time"}}
	for _, n := range r.numbers("Memory", "time") {
		for _, impl := range memoryImpls {
			b := benchmark{"Memory", impl, n}
			rows = append(rows, []string{
				labels[impl],
				strconv.FormatFloat(r.median(b, "B/timer"), 'f', 0, 64),
				r.ratio(b, benchmark{"Memory", "time", n}, "B/timer"),
			})
		}
	}
	return rows
}

// nothing stands for what was not measured.
const nothing = "–"

// duration is a median, the unit of which is unit.
func (r results) duration(b benchmark, name string, unit time.Duration) string {
	value := r.median(b, name)
	if math.IsNaN(value) {
		return nothing
	}
	return figures.Duration(time.Duration(value * float64(unit)))
}

// micros are medians in microseconds.
func (r results) micros(b benchmark, names ...string) []string {
	var cells []string
	for _, name := range names {
		cells = append(cells, r.duration(b, name, time.Microsecond))
	}
	return cells
}

func (r results) ratio(a, b benchmark, unit string) string {
	ratio := r.median(a, unit) / r.median(b, unit)
	if math.IsNaN(ratio) {
		return nothing
	}
	return strconv.FormatFloat(ratio, 'f', 2, 64)
}
