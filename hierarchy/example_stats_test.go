package hierarchy_test

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func ExampleStats_String() {
	c := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: c})
	defer w.Stop()
	for i := range 10 {
		timer, _ := w.AfterFunc(time.Duration(i+1)*time.Second, func() {})
		if i == 9 {
			timer.Stop()
		}
	}
	c.Add(5 * time.Second)
	fmt.Println(w.Stats())
	// Output: 4 pending, 10 scheduled, 5 fired, 1 stopped, 5 wake-ups; late by p50 0s, p99 0s, p99.9 0s, max 0s
}

func ExampleHistogram_Add() {
	var reads, writes, all hierarchy.Histogram
	for i := range 100 {
		reads.Add(time.Duration(i) * time.Microsecond)
	}
	writes.Add(2 * time.Millisecond)
	all.Merge(reads)
	all.Merge(writes)
	fmt.Println(all.Count(), "calls, the longest took", all.Max())
	// Output: 101 calls, the longest took 2ms
}

func ExampleHistogram_Buckets() {
	m := clock.NewMock() // nothing is late on a mock
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	for range 3 {
		w.AfterFunc(time.Second, func() {})
	}
	m.Add(time.Minute)
	for upTo, n := range w.Stats().Lateness.Buckets() {
		fmt.Println(n, "late by at most", upTo)
	}
	// Output: 3 late by at most 0s
}
