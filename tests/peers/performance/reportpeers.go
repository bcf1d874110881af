package main

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// peerFamilies are the benchmark families of the tables in docs/peers.md. SetStop and Memory
// are also measured for other tables. If another family was measured in the same run, they
// were measured for all contenders.
var peerFamilies = []tableOf{
	{"Churn", func(r results) [][]string { return r.costs("set and stop, by timers pending", "SetStop", true) }},
	{"Move", func(r results) [][]string { return r.costs("reset, by timers pending", "Move", false) }},
	{"Churn", func(r results) [][]string { return r.costs("mixture, by timers pending", "Churn", true) }},
	{"Late", lateTable},
	{"Expire", expireTable},
	{"Expire", weightTable},
}

// costs has a row for each contender and a column for each number of timers.
func (r results) costs(what, family string, allocated bool) [][]string {
	ns := r.allNumbers(family)
	head := []string{what}
	for _, n := range ns {
		head = append(head, figures.Count(n))
	}
	if allocated {
		head = append(head, "bytes allocated")
	}
	rows := [][]string{head}
	for _, c := range contender.All {
		row := []string{c.Label}
		for _, n := range ns {
			row = append(row, r.duration(benchmark{family, c.Name, n}, "ns/op", time.Nanosecond))
		}
		if allocated {
			row = append(row, r.bytes(benchmark{family, c.Name, 1000}, "B/op"))
		}
		rows = append(rows, row)
	}
	return rows
}

// allNumbers returns the numbers of timers that peers were measured with. The wheels and
// package time are measured with further numbers, for other tables.
func (r results) allNumbers(family string) []int {
	var ns []int
	for _, c := range contender.All {
		if c.Module != "" && c.Name != "go-zero" {
			ns = append(ns, r.numbers(family, c.Name)...)
		}
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// lateTable shows how late lone timers are.
func lateTable(r results) [][]string {
	rows := [][]string{{"lone timer", "earliest", "median", "latest", "earliest, " + figures.Count(beside) + " pending", "median", "latest"}}
	for _, c := range contender.All {
		row := []string{c.Label}
		for _, n := range []int{0, beside} {
			row = append(row, r.lateness(benchmark{"Late", c.Name, n})...)
		}
		rows = append(rows, row)
	}
	return rows
}

func expireTable(r results) [][]string {
	rows := [][]string{{figures.Count(expiring) + " timers within a second", "CPU", "earliest", "median", "99 %"}}
	for _, c := range contender.All {
		b := benchmark{"Expire", c.Name, expiring}
		row := []string{c.Label, r.duration(b, "cpu-ms/op", time.Millisecond)}
		rows = append(rows, append(row, r.lateness(b)...))
	}
	return rows
}

// weightTable shows memory for the largest crowd that was measured with all contenders.
func weightTable(r results) [][]string {
	rows := [][]string{{"implementation", "bytes per pending timer"}}
	ns := r.numbers("Memory", "russellluo")
	for _, c := range contender.All {
		if len(ns) > 0 {
			rows = append(rows, []string{c.Label, r.bytes(benchmark{"Memory", c.Name, ns[len(ns)-1]}, "B/timer")})
		}
	}
	return rows
}

// lateness formats the earliest value, the median and p99. Values of early timers are marked.
func (r results) lateness(b benchmark) (cells []string) {
	for _, unit := range []string{"late-min-µs", "late-p50-µs", "late-p99-µs"} {
		cells = append(cells, r.signed(b, unit))
	}
	return cells
}

func (r results) signed(b benchmark, unit string) string {
	value := r.median(b, unit)
	switch {
	case math.IsNaN(value):
		return nothing
	case value < 0:
		return figures.Duration(time.Duration(-value*float64(time.Microsecond))) + " early"
	default:
		return figures.Duration(time.Duration(value * float64(time.Microsecond)))
	}
}

func (r results) bytes(b benchmark, unit string) string {
	value := r.median(b, unit)
	if math.IsNaN(value) {
		return nothing
	}
	return strconv.FormatFloat(value, 'f', 0, 64)
}
