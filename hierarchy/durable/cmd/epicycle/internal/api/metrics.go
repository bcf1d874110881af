package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

// metrics answers with the figures of this process.
func (a *API) metrics() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{a.Service}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	h := promhttp.HandlerFor(r, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.mayAll(r.Context(), access.Read); err != nil {
			failure(err).write(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// collector implements prometheus.Collector.
type collector struct{ service *service.Service }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("epicycle_"+name, help, labels, nil)
}

// figures are the metrics from durable.Stats.
var figures = []struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*durable.Stats) float64
}{
	{describe("partitions_owned", "Partitions that this process owns."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return float64(s.Owned) }},
	{describe("partitions_damaged", "Partitions whose logs are damaged."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return float64(s.Damaged) }},
	{describe("timers_pending", "Timers that are not dead."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return float64(s.Pending) }},
	{describe("timers_dead", "Timers that are dead."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return float64(s.Dead) }},
	{describe("attempts_running", "Attempts in progress."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return float64(s.Running) }},
	{describe("attempt_oldest_seconds", "Since when the oldest attempt is in progress."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return s.Oldest.Seconds() }},
	{describe("set_total", "Timers that were set."), prometheus.CounterValue, func(s *durable.Stats) float64 { return float64(s.Set) }},
	{describe("moved_total", "Timers that were moved."), prometheus.CounterValue, func(s *durable.Stats) float64 { return float64(s.Moved) }},
	{describe("removed_total", "Timers that were removed."), prometheus.CounterValue, func(s *durable.Stats) float64 { return float64(s.Removed) }},
	{describe("attempts_total", "Attempts that have begun."), prometheus.CounterValue, func(s *durable.Stats) float64 { return float64(s.Fired) }},
	{describe("attempts_failed_total", "Attempts that have failed."), prometheus.CounterValue, func(s *durable.Stats) float64 { return float64(s.Failed) }},
	{describe("log_bytes", "Approximate size of the logs."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return float64(s.LogBytes) }},
	{describe("log_live_bytes", "Approximate part of it that is live timers."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return float64(s.LiveBytes) }},
	{describe("log_written_bytes_total", "Bytes written to the logs."), prometheus.CounterValue, func(s *durable.Stats) float64 { return float64(s.Bytes) }},
	{describe("clock_skew_seconds", "How far the wall clock is ahead of the owner's time."), prometheus.GaugeValue, func(s *durable.Stats) float64 { return s.Skew.Seconds() }},
}

var (
	latenessDesc = describe("lateness_seconds", "How long after its due time each timer was found due.")
	commitDesc   = describe("commit_seconds", "From sending a frame of the log to its acknowledgement.")
	sendingDesc  = describe("requests_running", "Requests to webhooks and subjects in progress.")
	waitingDesc  = describe("requests_waiting", "Timers that are due and wait for a place at their host.")
	takenDesc    = describe("taken", "Firings that workers have taken and not ended.")
	queueDesc    = describe("queue_waiting", "Firings that wait in a queue.", "queue")
)

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for i := range figures {
		ch <- figures[i].desc
	}
	for _, d := range []*prometheus.Desc{latenessDesc, commitDesc, sendingDesc, waitingDesc, takenDesc, queueDesc} {
		ch <- d
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	st := c.service.Stats()
	for i := range figures {
		f := &figures[i]
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.of(&st))
	}
	ch <- histogram(latenessDesc, &st.Lateness)
	ch <- histogram(commitDesc, &st.Commit)
	l := c.service.Lanes()
	ch <- prometheus.MustNewConstMetric(sendingDesc, prometheus.GaugeValue, float64(l.Sending))
	ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(l.Waiting))
	ch <- prometheus.MustNewConstMetric(takenDesc, prometheus.GaugeValue, float64(l.Taken))
	for name, n := range l.Queues {
		ch <- prometheus.MustNewConstMetric(queueDesc, prometheus.GaugeValue, float64(n), name)
	}
}

// bounds are the upper bounds of the histograms' buckets, in seconds.
var bounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}

func histogram(desc *prometheus.Desc, h *hierarchy.Histogram) prometheus.Metric {
	buckets := make(map[float64]uint64, len(bounds))
	for _, b := range bounds {
		buckets[b] = 0
	}
	for end, n := range h.Buckets() {
		for _, b := range bounds {
			if end.Seconds() <= b {
				buckets[b] += n
			}
		}
	}
	return prometheus.MustNewConstHistogram(desc, h.Count(), h.Mean().Seconds()*float64(h.Count()), buckets)
}
