package hierarchy_test

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Of several who set a key, the first wins: here a message that comes again within a minute is
// not handled again.
func ExampleKeyed_SetIfAbsent() {
	m := clock.NewMock() // in production, leave Clock out
	seen, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(string, struct{}) {})
	defer seen.Stop()
	receive := func(id string) {
		first, err := seen.SetIfAbsent(id, struct{}{}, time.Minute)
		fmt.Println(id, "at", m.Elapsed(), "first:", first, err)
	}
	receive("m1")
	m.Add(59 * time.Second)
	receive("m1")
	m.Add(time.Second)
	receive("m1")
	// Output:
	// m1 at 0s first: true <nil>
	// m1 at 59s first: false <nil>
	// m1 at 1m0s first: true <nil>
}

// Of several who set a key, the soonest wins.
func ExampleKeyed_SetSooner() {
	m := clock.NewMock()
	w, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(pod, why string) {
		fmt.Println(pod, why, "at", m.Elapsed())
	})
	defer w.Stop()
	fmt.Println(w.SetSooner("pod", "resync", time.Minute))
	fmt.Println(w.SetSooner("pod", "retry", time.Second))
	fmt.Println(w.SetSooner("pod", "resync", time.Minute))
	m.Add(time.Hour)
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
	// pod retry at 1s
}

// Of several who set a key, the latest wins: a lease lasts as long as the longest that anybody
// was granted.
func ExampleKeyed_SetLater() {
	m := clock.NewMock()
	w, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(name, holder string) {
		fmt.Println(name, "ends at", m.Elapsed())
	})
	defer w.Stop()
	fmt.Println(w.SetLater("lease", "ann", time.Minute))
	fmt.Println(w.SetLater("lease", "ann", time.Second))
	fmt.Println(w.SetLater("lease", "ann", time.Hour))
	m.Add(24 * time.Hour)
	// Output:
	// true <nil>
	// false <nil>
	// true <nil>
	// lease ends at 1h0m0s
}

func ExampleKeyed_All() {
	m := clock.NewMock()
	w, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(string, int) {})
	defer w.Stop()
	_ = w.Set("a", 1, time.Minute)
	_ = w.Set("b", 2, time.Hour)
	for key, e := range w.All() {
		if e.Due.Sub(m.Now()) < 10*time.Minute {
			fmt.Println(key, e.Value, "is due at", e.Due.Format(time.TimeOnly))
		}
	}
	// Output: a 1 is due at 00:01:00
}

// What is pending moves to another wheel, in this process or the next.
func ExampleKeyed_DrainEntries() {
	m := clock.NewMock()
	before, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(string, int) {})
	defer before.Stop()
	_ = before.Set("later", 1, time.Hour)
	_ = before.Set("soon", 2, time.Minute)

	after, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(key string, v int) {
		fmt.Println(key, v, "at", m.Now().Format(time.TimeOnly))
	})
	defer after.Stop()
	before.DrainEntries(func(key string, e hierarchy.Entry[int]) {
		if err := after.SetAt(key, e.Value, e.Due); err != nil {
			fmt.Println(err)
		}
	})
	m.Add(2 * time.Hour)
	// Output:
	// soon 2 at 00:01:00
	// later 1 at 01:00:00
}
