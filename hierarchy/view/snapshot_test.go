package view

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// object decodes a JSON object and keeps all digits of its numbers.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var o map[string]any
	require.NoError(t, d.Decode(&o))
	return o
}

func fields(o any) []string { return slices.Sorted(maps.Keys(o.(map[string]any))) }

// The package comment promises these names.
func TestFieldsOfJSON(t *testing.T) {
	w, m := newWheel(t)
	for i := range 100 {
		_, err := w.AfterFunc(time.Duration(i)*time.Second, func() {})
		require.NoError(t, err)
	}
	m.Add(10*time.Second + 7)
	r := get(t, Handler(w), http.MethodGet, "/json")
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	o := object(t, body(t, r))
	require.Equal(t, []string{
		"cascaded", "circles", "closed", "drained", "dropped", "elapsed_ns", "fired", "lateness",
		"moved", "panics", "pending", "queued", "recent_lateness", "recent_waited", "running",
		"scheduled", "skipped", "stopped", "taken_ns", "time", "waited", "wakeups",
	}, fields(o))
	late := o["lateness"].(map[string]any)
	require.Equal(t, []string{
		"buckets", "count", "max_ns", "mean_ns", "p50_ns", "p90_ns", "p999_ns", "p99_ns",
	}, fields(late))
	require.Equal(t, []string{"count", "up_to_ns"}, fields(late["buckets"].([]any)[0]))
	require.Equal(t, []string{
		"buckets", "count", "max_ns", "p50_ns", "p90_ns", "p999_ns", "p99_ns", "span_ns",
	}, fields(o["recent_lateness"]))
	require.Equal(t, []any{}, o["recent_lateness"].(map[string]any)["buckets"])
	circles := o["circles"].([]any)
	require.Equal(t, []string{"base", "hand", "slots", "timers", "width_ns"}, fields(circles[0]))

	require.Equal(t, json.Number("89"), o["pending"])
	require.Equal(t, json.Number("11"), o["fired"])
	require.Equal(t, json.Number("10000000007"), o["elapsed_ns"])
	require.Equal(t, json.Number("11"), late["count"])
	_, err := time.Parse(time.RFC3339Nano, o["time"].(string))
	require.NoError(t, err)
}

func TestCirclesAreTheWheels(t *testing.T) {
	w, m := newWheel(t)
	for i := range 1000 {
		_, err := w.AfterFunc(time.Duration(i*i)*time.Second, func() {})
		require.NoError(t, err)
	}
	m.Add(time.Hour)
	s := newGauge(w).snapshot()
	total := 0
	for k, c := range w.Circles() {
		require.Equal(t, c.Width, s.Circles[k].Width)
		require.Equal(t, c.Base, s.Circles[k].Base)
		require.Equal(t, c.Hand, s.Circles[k].Hand)
		require.Equal(t, c.Slots, s.Circles[k].Slots)
		total += s.Circles[k].Timers
	}
	require.Equal(t, w.Len(), total)
}

// The hands of every layout show the time together, also if the finest circle turns after
// fewer slots.
func TestHandsShowElapsedTime(t *testing.T) {
	for _, interval := range []time.Duration{1, 7, 100, time.Millisecond, 10 * time.Millisecond, time.Second, time.Hour} {
		for _, elapsed := range []time.Duration{0, 1, 63, 64, 65, 1e9 + 7, 1e17 + 12345, 1<<62 + 33} {
			m := clock.NewMock()
			w, err := hierarchy.New(hierarchy.Config{Clock: m, Interval: interval})
			require.NoError(t, err)
			m.Add(elapsed)
			require.Equal(t, elapsed, elapsedOf(w.Circles()), "interval %v", interval)
			w.Stop()
		}
	}
}

// Bars are between powers of two. Empty bars are left out, and every timer is in one.
func TestBucketsByPowerOfTwo(t *testing.T) {
	w := newLateWheel(t)
	late := func() lateness { return newGauge(w).snapshot().Lateness }
	require.Empty(t, late().Buckets)
	require.NotNil(t, late().Buckets)
	w.fire(0, 1, 2, 3, 1023, 1024, 1100, 1500, 2047, 2048, 1<<40)
	require.Equal(t, []bucket{
		{0, 1}, {1, 1}, {3, 2}, {1023, 1}, {2047, 4}, {4095, 1}, {1<<41 - 1, 1},
	}, late().Buckets)
	require.EqualValues(t, 11, late().Count)
	require.Equal(t, time.Duration(1<<40), late().Max)
	require.LessOrEqual(t, late().P50, late().P90)
	require.LessOrEqual(t, late().P99, late().P999)
}

// constant is a Source that returns figures made by the test.
type constant hierarchy.Stats

func (c constant) Stats() hierarchy.Stats         { return hierarchy.Stats(c) }
func (constant) Circles() []hierarchy.CircleStats { return nil }

// Each field of Stats is in the snapshot under its own name.
func TestFieldsOfStats(t *testing.T) {
	o := object(t, body(t, get(t, Handler(constant{
		Pending: 1, Queued: 2, Running: 3, Scheduled: 4, Fired: 5, Stopped: 6, Drained: 7,
		Dropped: 8, Moved: 9, Cascaded: 10, Wakeups: 11, Panics: 12, Skipped: 13,
	}), http.MethodGet, "/json")))
	for i, name := range []string{
		"pending", "queued", "running", "scheduled", "fired", "stopped", "drained",
		"dropped", "moved", "cascaded", "wakeups", "panics", "skipped",
	} {
		require.Equal(t, json.Number(strconv.Itoa(i+1)), o[name], name)
	}
	require.Equal(t, true, object(t, body(t, get(t, Handler(constant{Closed: true}), http.MethodGet, "/json")))["closed"])
	require.Equal(t, 13+1+2, reflect.TypeFor[hierarchy.Stats]().NumField(), "Stats has a field that is not in the snapshot")
}
