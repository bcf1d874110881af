package main

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// lifeFamilies are the benchmark families of the tables about Driven in docs/peers.md.
var lifeFamilies = []tableOf{
	{"StoreLife", storeTable},
	{"LeaseLife", leaseTable},
	{"CacheLife", cacheTable},
}

// lifeRow is a row of the tables about Driven: a figure of one benchmark, for each implementation.
type lifeRow struct {
	what, family, way, unit string
	n                       int // number of entries; 0 if it is the number for the whole table
	keeps                   bool
}

const (
	nsPerCall    = "call-cpu-ns"
	bytesPerLife = "B/entry"
)

// The units of parts of a life.
const (
	setTook     = "set-cpu-ns"
	updateTook  = "update-cpu-ns"
	expireTook  = "expire-cpu-ns"
	lifeTook    = "life-cpu-ns"
	longestCall = "longest-cpu-ns"
	allocated   = "allocated-B/entry"
	allocs      = "allocs/entry"
)

var storeRows = []lifeRow{
	{what: "bytes for each, with its Handle", family: "StoreLife", way: secondBySecond, unit: bytesPerLife, keeps: true},
	{what: "add one", family: "StoreAdd", unit: nsPerCall},
	{what: "update a random one", family: "StoreUpdate", unit: nsPerCall},
	{what: "due within an hour, second by second: expire", family: "StoreLife", way: secondBySecond, unit: expireTook},
	{what: "… the longest call to expire", family: "StoreLife", way: secondBySecond, unit: longestCall},
	{what: "… set, update and expire", family: "StoreLife", way: secondBySecond, unit: lifeTook},
	{what: "the same in one call", family: "StoreLife", way: allAtOnce, unit: lifeTook},
	{what: "the same within a day", family: "StoreLife", way: inADay, unit: lifeTook},
	{what: "the same in the order of setting", family: "StoreLife", way: ordered, unit: lifeTook},
	{what: "the same, only 10,000", family: "StoreLife", way: secondBySecond, unit: lifeTook, n: few},
}

var leaseRows = []lifeRow{
	{what: "bytes for each, with its Handle", family: "LeaseLife", unit: bytesPerLife, keeps: true},
	{what: "renew a random one", family: "LeaseRenew", unit: nsPerCall},
	{what: "grant, renew once and revoke when expired", family: "LeaseLife", unit: lifeTook},
	{what: "… allocations", family: "LeaseLife", unit: allocs},
}

var cacheRows = []lifeRow{
	{what: "bytes for each", family: "CacheLife", unit: bytesPerLife},
	{what: "expire, every two seconds", family: "CacheLife", unit: expireTook},
	{what: "set, change each lifetime once, and expire", family: "CacheLife", unit: lifeTook},
}

func storeTable(r results) [][]string {
	head := []string{"messages of a store", "thw", "Driven", "ratio", "Driven behind thw's methods"}
	return r.lifeTable(head, "StoreLife", storeLives, storeRows)
}

func leaseTable(r results) [][]string {
	return r.lifeTable([]string{"leases", "etcd's heap", "Driven", "ratio"}, "LeaseLife", leaseLives, leaseRows)
}

func cacheTable(r results) [][]string {
	head := []string{"entries of a cache", "otter", "a map, a lock and Driven", "ratio"}
	return r.lifeTable(head, "CacheLife", cacheLives, cacheRows)
}

// lifeTable has the first two implementations, the ratio of the second to the first, and
// then any others, for the largest number of entries that was measured.
func (r results) lifeTable(head []string, family string, impls []string, rows []lifeRow) [][]string {
	most := 0
	for _, way := range []string{"", ordered} {
		for _, n := range r.numbers(family, "driven"+way) {
			most = max(most, n)
		}
	}
	table := [][]string{head}
	for _, row := range rows {
		var values []float64
		for _, impl := range impls {
			values = append(values, r.lifeValue(row, impl, most))
		}
		cells := []string{row.what, row.format(values[0]), row.format(values[1]), formatRatio(values[1] / values[0])}
		for _, v := range values[2:] {
			cells = append(cells, row.format(v))
		}
		table = append(table, cells)
	}
	return table
}

func (r results) lifeValue(row lifeRow, impl string, most int) float64 {
	n := most
	if row.n > 0 {
		n = row.n
	}
	value := r.median(benchmark{row.family, impl + row.way, n}, row.unit)
	if row.keeps && impl == "driven" {
		value += float64(unsafe.Sizeof(hierarchy.Handle{}))
	}
	return value
}

func (row lifeRow) format(value float64) string {
	switch {
	case math.IsNaN(value):
		return nothing
	case strings.HasSuffix(row.unit, "-ns"):
		return figures.Duration(time.Duration(value))
	case row.unit == allocs:
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 0, 64)
}
