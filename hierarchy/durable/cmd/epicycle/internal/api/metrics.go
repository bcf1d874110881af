package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	wheelmetrics "github.com/epicycle-go/epicycle/compat/adapters/prometheus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/metrics"
)

// metrics answers with the figures of this process: those that every process with durable timers has, those of the
// wheel for the timeouts of firings, and the service's own.
func (a *API) metrics() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(
		metrics.New(a.Service.Timers, metrics.Name(a.Service.Name())),
		wheelmetrics.New(a.Service.Timeouts(), wheelmetrics.Name("timeouts")),
		lanes{a.Service},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	h := promhttp.HandlerFor(r, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.mayAll(r.Context(), access.Read); err != nil {
			failure(err).write(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// lanes implements prometheus.Collector with what waits for its attempt, and with the attempts in progress.
type lanes struct{ service *service.Service }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("epicycle_"+name, help, labels, nil)
}

var (
	sendingDesc = describe("requests_running", "Requests to webhooks and subjects in progress.")
	waitingDesc = describe("requests_waiting", "Timers that are due and wait for a place at their host.")
	hangingDesc = describe("hosts_hanging", "Hosts with timers that are due, and that do not answer.")
	heldDesc    = describe("hosts_hanging_waiting", "Timers that are due and wait for a place at one of these hosts.")
	crowdedDesc = describe("hosts_waiting", "Hosts without any request, since hosts that do not answer have the places.")
	takenDesc   = describe("taken", "Firings that workers have taken and not ended.")
	queueDesc   = describe("queue_waiting", "Firings that wait in a queue. "+
		"Only the 1,000 queues with the most have the label: without it, it is the sum of the others.", "queue")
	limitedDesc = describe("limit_waiting", "Timers that are due and wait because of a limit.", "kind", "name")
	pausedDesc  = describe("limit_paused", "1 if a limit is a pause, and otherwise 0.", "kind", "name")
)

func (lanes) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sendingDesc, waitingDesc, hangingDesc, heldDesc, crowdedDesc, takenDesc, queueDesc, limitedDesc, pausedDesc} {
		ch <- d
	}
}

func (c lanes) Collect(ch chan<- prometheus.Metric) {
	l := c.service.Lanes()
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	gauge(sendingDesc, l.Running)
	gauge(waitingDesc, l.Waiting)
	gauge(hangingDesc, l.Hanging)
	gauge(heldDesc, l.Held)
	gauge(crowdedDesc, l.Crowded)
	gauge(takenDesc, l.Taken)
	if l.Others > 0 { // without the label
		gauge(queueDesc, l.Others, "")
	}
	for name, n := range l.Queues {
		gauge(queueDesc, n, name)
	}
	for _, l := range c.service.LimitsHere() {
		gauge(limitedDesc, l.Waiting, string(l.Kind), l.Name)
		gauge(pausedDesc, map[bool]int{true: 1}[l.Paused], string(l.Kind), l.Name)
	}
}
