package peers

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// collector shows the statistics of a wheel to Prometheus. They are taken when
// Prometheus asks, and cost nothing in between.
type collector struct {
	stats                                                      func() hierarchy.Stats
	pending, queued, fired, stopped, wakeups, panics, lateness *prometheus.Desc
}

func newCollector(name string, stats func() hierarchy.Stats) prometheus.Collector {
	desc := func(metric, help string) *prometheus.Desc {
		return prometheus.NewDesc("wheel_"+metric, help, nil, prometheus.Labels{"wheel": name})
	}
	return &collector{
		stats:    stats,
		pending:  desc("pending", "Timers that are set."),
		queued:   desc("queued", "Callbacks that wait for the executor."),
		fired:    desc("fired_total", "Timers whose callback was handed over."),
		stopped:  desc("stopped_total", "Timers that were taken back."),
		wakeups:  desc("wakeups_total", "Times the clock woke the wheel."),
		panics:   desc("panics_total", "Panics in callbacks."),
		lateness: desc("lateness_seconds", "From deadline to handing over."),
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
	counter(c.panics, s.Panics)
	quantiles := map[float64]float64{}
	for _, q := range []float64{0.5, 0.99, 1} {
		quantiles[q] = s.Lateness.Quantile(q).Seconds()
	}
	sum := s.Lateness.Mean().Seconds() * float64(s.Lateness.Count())
	metrics <- prometheus.MustNewConstSummary(c.lateness, s.Lateness.Count(), sum, quantiles)
}

func TestPrometheusCollector(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(newCollector("timeouts", w.Stats)))
	for i := range 10 {
		_, err = w.AfterFunc(time.Duration(i)*time.Second, func() {})
		require.NoError(t, err)
	}
	m.Add(3 * time.Second)

	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP wheel_pending Timers that are set.
# TYPE wheel_pending gauge
wheel_pending{wheel="timeouts"} 6
# HELP wheel_fired_total Timers whose callback was handed over.
# TYPE wheel_fired_total counter
wheel_fired_total{wheel="timeouts"} 4
# HELP wheel_lateness_seconds From deadline to handing over.
# TYPE wheel_lateness_seconds summary
wheel_lateness_seconds{wheel="timeouts",quantile="0.5"} 0
wheel_lateness_seconds{wheel="timeouts",quantile="0.99"} 0
wheel_lateness_seconds{wheel="timeouts",quantile="1"} 0
wheel_lateness_seconds_sum{wheel="timeouts"} 0
wheel_lateness_seconds_count{wheel="timeouts"} 4
`), "wheel_pending", "wheel_fired_total", "wheel_lateness_seconds"))
}
