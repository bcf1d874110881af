package peers

import (
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// collector exports the statistics of a wheel to Prometheus. They are read when Prometheus
// scrapes, and cost nothing in between.
type collector struct {
	stats                                                     func() hierarchy.Stats
	pending, queued, fired, stopped, wakeups, skipped, panics *prometheus.Desc
	lateness, waited                                          *prometheus.Desc
}

func newCollector(name string, stats func() hierarchy.Stats) prometheus.Collector {
	desc := func(metric, help string) *prometheus.Desc {
		return prometheus.NewDesc("wheel_"+metric, help, nil, prometheus.Labels{"wheel": name})
	}
	return &collector{
		stats:    stats,
		pending:  desc("pending", "Timers that wait for their deadlines."),
		queued:   desc("queued", "Callbacks that the executor has not started yet."),
		fired:    desc("fired_total", "Timers whose callbacks were dispatched."),
		stopped:  desc("stopped_total", "Timers that were stopped."),
		wakeups:  desc("wakeups_total", "Times the clock woke the wheel."),
		skipped:  desc("skipped_total", "Runs that repeaters missed."),
		panics:   desc("panics_total", "Panics in callbacks."),
		lateness: desc("lateness_seconds", "Time from deadline to dispatch."),
		waited:   desc("waited_seconds", "Time from dispatch until the callback began, with a Pool."),
	}
}

func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, descs)
}

func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	s := c.stats()
	counter := func(d *prometheus.Desc, n uint64) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n))
	}
	metrics <- prometheus.MustNewConstMetric(c.pending, prometheus.GaugeValue, float64(s.Pending))
	metrics <- prometheus.MustNewConstMetric(c.queued, prometheus.GaugeValue, float64(s.Queued))
	counter(c.fired, s.Fired)
	counter(c.stopped, s.Stopped)
	counter(c.wakeups, s.Wakeups)
	counter(c.skipped, s.Skipped)
	counter(c.panics, s.Panics)
	metrics <- histogramMetric(c.lateness, s.Lateness)
	metrics <- histogramMetric(c.waited, s.Waited)
}

// Buckets end at a power of two nanoseconds less one, where a Histogram also has bucket
// bounds: the first at a microsecond, each at twice the one before, the last at 17 seconds.
// They are the same in every scrape, because rate and histogram_quantile need that.
const firstPower, lastPower = 10, 34

func bound(power int) float64 { return (time.Duration(1)<<power - 1).Seconds() }

// histogramMetric converts h to a Prometheus histogram, whose buckets are cumulative. The
// sum is computed from the buckets of h and is at most an eighth too large. Mean times
// Count would be more accurate, but Mean is rounded, so the product sometimes decreases,
// and Prometheus takes a decrease for a restart of the process.
func histogramMetric(desc *prometheus.Desc, h hierarchy.Histogram) prometheus.Metric {
	buckets, sum := map[float64]uint64{}, 0.0
	for power := firstPower; power <= lastPower; power++ {
		buckets[bound(power)] = 0
	}
	for upTo, n := range h.Buckets() {
		sum += upTo.Seconds() * float64(n)
		for power := max(firstPower, bits.Len64(uint64(upTo))); power <= lastPower; power++ {
			buckets[bound(power)] += n
		}
	}
	return prometheus.MustNewConstHistogram(desc, h.Count(), sum, buckets)
}

func TestPrometheusCollector(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(newCollector("timeouts", func() hierarchy.Stats {
		s := w.Stats()
		s.Skipped += 7 // as if a repeater had missed runs
		return s
	})))
	for i := range 10 {
		_, err = w.AfterFunc(time.Duration(i)*time.Second, func() {})
		require.NoError(t, err)
	}
	m.Add(3 * time.Second)

	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP wheel_pending Timers that wait for their deadlines.
# TYPE wheel_pending gauge
wheel_pending{wheel="timeouts"} 6
# HELP wheel_fired_total Timers whose callbacks were dispatched.
# TYPE wheel_fired_total counter
wheel_fired_total{wheel="timeouts"} 4
# HELP wheel_skipped_total Runs that repeaters missed.
# TYPE wheel_skipped_total counter
wheel_skipped_total{wheel="timeouts"} 7
`), "wheel_pending", "wheel_fired_total", "wheel_skipped_total"))
}

// scrape returns the lateness histogram of the registry.
func scrape(t *testing.T, registry *prometheus.Registry) (count uint64, sum float64, buckets map[float64]uint64) {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() != "wheel_lateness_seconds" {
			continue
		}
		h := family.GetMetric()[0].GetHistogram()
		buckets = map[float64]uint64{}
		for _, b := range h.GetBucket() {
			buckets[b.GetUpperBound()] = b.GetCumulativeCount()
		}
		return h.GetSampleCount(), h.GetSampleSum(), buckets
	}
	require.Fail(t, "the registry has no lateness")
	return 0, 0, nil
}

// Counters, bucket counts and the sum must never decrease: Prometheus would take that for a
// restart of the process. The bounds of the buckets must not change, or quantiles are wrong.
func TestPrometheusLateness(t *testing.T) {
	c := &lateClock{}
	w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	require.NoError(t, err)
	defer w.Stop()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(newCollector("timeouts", w.Stats)))
	_, _, first := scrape(t, registry)
	require.Len(t, first, 25)

	random := rand.New(rand.NewPCG(1, 2))
	var late []time.Duration
	lastSum, last := 0.0, first
	for round := range 300 {
		for range 20 {
			d := 99 + random.Int64N(2)
			if round%3 == 0 {
				d = random.Int64N(1 << random.Int64N(40))
			}
			late = append(late, time.Duration(d))
			c.fire(t, w, late[len(late)-1])
		}
		count, sum, buckets := scrape(t, registry)
		require.EqualValues(t, len(late), count)
		require.GreaterOrEqual(t, sum, lastSum)
		require.Equal(t, slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(buckets)))
		for bound, n := range buckets {
			require.GreaterOrEqual(t, n, last[bound])
		}
		lastSum, last = sum, buckets
	}
	total := 0.0
	for bound, n := range last {
		within := uint64(0)
		for _, d := range late {
			if d.Seconds() <= bound {
				within++
			}
		}
		require.Equal(t, within, n, "%v", bound)
	}
	for _, d := range late {
		total += d.Seconds()
	}
	require.GreaterOrEqual(t, lastSum, total)
	require.LessOrEqual(t, lastSum, total*9/8)
}

// lateClock rings its alarm when the test says so, as late as it likes.
type lateClock struct {
	elapsed time.Duration
	ring    func()
}

func (c *lateClock) Now() time.Time                   { return time.Unix(0, int64(c.elapsed)) }
func (c *lateClock) Elapsed() time.Duration           { return c.elapsed }
func (c *lateClock) NewAlarm(ring func()) clock.Alarm { c.ring = ring; return c }
func (*lateClock) Set(time.Duration)                  {}
func (*lateClock) Stop()                              {}

func (c *lateClock) fire(t *testing.T, w *hierarchy.Wheel, late time.Duration) {
	_, err := w.AfterFunc(time.Second, func() {})
	require.NoError(t, err)
	c.elapsed += time.Second + late
	c.ring()
}
