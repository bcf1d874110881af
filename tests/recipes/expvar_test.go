package recipes

import (
	"encoding/json"
	"expvar"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// publish shows a wheel's counters at /debug/vars. A name can be published only once.
// Lateness is counted since the start; for a shorter time, use Prometheus.
func publish(name string, w *hierarchy.Wheel) {
	expvar.Publish(name, expvar.Func(func() any {
		s := w.Stats()
		return map[string]any{
			"pending": s.Pending, "running": s.Running, "queued": s.Queued,
			"fired": s.Fired, "stopped": s.Stopped, "wakeups": s.Wakeups,
			"skipped": s.Skipped, "panics": s.Panics,
			"late_p99_ns": s.Lateness.Quantile(0.99), "late_max_ns": s.Lateness.Max(),
			"waited_p99_ns": s.Waited.Quantile(0.99), // with a Pool
		}
	}))
}

func Example_expvar() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	publish("timeouts", w)

	for i := range 10 {
		_, _ = w.AfterFunc(time.Duration(i)*time.Second, func() {})
	}
	m.Add(3 * time.Second)
	var shown struct{ Pending, Fired, Skipped int }
	_ = json.Unmarshal([]byte(expvar.Get("timeouts").String()), &shown)
	fmt.Printf("%+v\n", shown)
	// Output: {Pending:6 Fired:4 Skipped:0}
}
