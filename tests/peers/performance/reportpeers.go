package main

import (
	"math"
	"strconv"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// peerFamilies is the benchmark family of the table in docs/peers.md that has all contenders. If it was measured, so were
// the others of that table.
var peerFamilies = []tableOf{{"Churn", peerTable}}

// peerTable has a row for each contender. The first figures are those with so many timers pending.
func peerTable(r results) [][]string {
	ns := r.numbers("Churn", "russellluo")
	most := ns[len(ns)-1]
	rows := [][]string{{
		"with " + figures.Count(most) + " pending", "set and stop", "reset", "mixture", "bytes of each",
		"lone timer: earliest", "median", figures.Count(expiring) + " within a second: CPU", "99 % late",
	}}
	for _, c := range contender.All {
		row := []string{c.Label}
		for _, family := range []string{"SetStop", "Move", "Churn"} {
			row = append(row, r.duration(benchmark{family, c.Name, most}, "ns/op", time.Nanosecond))
		}
		lone, crowd := benchmark{"Late", c.Name, 0}, benchmark{"Expire", c.Name, expiring}
		rows = append(rows, append(row,
			r.bytes(benchmark{"Memory", c.Name, most}, "B/timer"),
			r.signed(lone, "late-min-µs"), r.signed(lone, "late-p50-µs"),
			r.duration(crowd, "cpu-ms/op", time.Millisecond), r.signed(crowd, "late-p99-µs")))
	}
	return rows
}

// signed formats a time in microseconds. It marks those that are early.
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
