package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// labels maps the names in benchmarks to the names in pictures and tables.
var labels = func() map[string]string {
	labels := map[string]string{
		"wheel/executor=Inline":         "Wheel, Inline",
		"wheel/executor=Go":             "Wheel, Go",
		"wheel/executor=Pool64":         "Wheel, Pool(64)",
		"epicycle":                      "Wheel",
		"epicycle/precision=1µs/inline": "Wheel, Precision 1 µs, Inline",
	}
	for _, c := range contender.All {
		labels[c.Name] = c.Label
	}
	return labels
}()

// families are the benchmark families of the tables in docs/performance.md.
var families = []tableOf{
	{"SetStop", costTable},
	{"Reset", workTable},
	{"Burst", burstTable},
	{"Cascade", cascadeTable},
	{"ResetLatency", latencyTable},
	{"Memory", memoryTable},
}

// tableOf makes a table from the results of a family of benchmarks.
type tableOf struct {
	family string
	rows   func(results) [][]string
}

// tables returns the tables for which there are results.
func tables(r results, families []tableOf) (all [][][]string) {
	for _, t := range families {
		if r.measured(t.family) {
			all = append(all, t.rows(r))
		}
	}
	return all
}

// report returns all tables in Markdown, below a line that names the platform.
func report(all [][][]string) string {
	parts := []string{fmt.Sprintf("%s on %s/%s with %d cores.\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))}
	for _, rows := range all {
		parts = append(parts, figures.Table(rows))
	}
	return strings.Join(parts, "\n")
}

// costTable has a row for each number of timers pending.
func costTable(r results) [][]string {
	head := []string{"pending"}
	for _, impl := range costImpls {
		head = append(head, labels[impl])
	}
	rows := [][]string{append(head, "Wheel / time")}
	for _, n := range r.numbers("SetStop", "time") {
		if n == 0 {
			continue // for this number the result is the same as for one timer
		}
		row := []string{figures.Count(n)}
		for _, impl := range costImpls {
			row = append(row, r.duration(benchmark{"SetStop", impl, n}, "ns/op", time.Nanosecond))
		}
		wheel, time := benchmark{"SetStop", "wheel", n}, benchmark{"SetStop", "time", n}
		rows = append(rows, append(row, r.ratio(wheel, time, "ns/op")))
	}
	return rows
}

// workTable compares the wheel with package time, with one figure per row.
func workTable(r results) [][]string {
	empty := r.duration(benchmark{"GC", "empty", 0}, "ns/op", time.Nanosecond)
	rows := [][]string{{"a million pending", "time", "Wheel", "ratio"}}
	for _, w := range []struct {
		what, family, to, unit string
		scale                  time.Duration
	}{
		{"reset of a random timer to any time", "Reset", "/to=any", "ns/op", time.Nanosecond},
		{"keep-alive: reset to the same delay", "Reset", "/to=keepalive", "ns/op", time.Nanosecond},
		{"full garbage collection (" + empty + " without timers)", "GC", "", "ns/op", time.Nanosecond},
		{"CPU time to set them and let them fire over 2 s", "Expiry", "", "cpu-ms/op", time.Millisecond},
		{"CPU time to reset them at random and let them fire over 2 s", "ResetExpiry", "", "cpu-ms/op", time.Millisecond},
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
		"implementation", "all done after", "calls meanwhile", "median", "99 %", "99.9 %", "longest",
	}}
	for _, n := range r.numbers("Burst", "time") {
		for _, impl := range burstImpls {
			b := benchmark{"Burst", impl, n}
			row := []string{
				labels[impl], r.duration(b, "ms/burst", time.Millisecond), r.count(b, "calls"),
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
	rows := [][]string{{"implementation", "bytes", "relative to time"}}
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
