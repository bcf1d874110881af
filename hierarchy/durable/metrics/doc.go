// Package metrics exports the figures of durable timers to Prometheus, by its client for Go:
//
//	prometheus.MustRegister(metrics.New(timers))
//
// A Collector reads Stats and Health of the timers when it is scraped, and nothing in between. Stats does not walk over timers: a
// scrape takes some microseconds for each partition.
//
// Each scrape is one snapshot of Stats: its figures for all partitions are the sums of those for each. Counters
// count what has happened in this process since Open, also in partitions that others own now, and never decrease.
// So the sum of a counter over all processes, by the label name, is that of the timers' name.
//
// # Labels
//
// Each metric has the label name. It is "timers", which is also the default of durable.Config.Name, unless the option
// Name says otherwise. Collectors with different names can be registered together.
//
// The option Partitions adds metrics with the label partition, a number: 18 series for each partition. There are no
// labels with keys, values, members or errors, whose number has no limit.
//
// # Histograms
//
// They are classic and native at once: see package github.com/epicycle-go/epicycle/compat/adapters/prometheus, which
// exports the figures of wheels in memory.
//
// docs/monitoring.md of the project lists all metrics, says what to alert on, and has rules and a dashboard.
package metrics
