// Package metrics exports the figures of durable timers to Prometheus, with its client for Go:
//
//	prometheus.MustRegister(metrics.New(timers))
//
// A Collector reads Stats and Health of the timers when it is scraped, and does nothing in between. Stats does not
// iterate over timers: a scrape takes some microseconds for each partition.
//
// Each scrape is one snapshot of Stats: the figures for all partitions are the sums of the figures of each. Counters
// count what has happened in this process since Open, also in partitions that other processes own now, and never
// decrease. So the sum of a counter over all processes, by the label name, is the counter of all timers of that name.
//
// # Labels
//
// Each metric has the label name. It is "timers", which is also the default of durable.Config.Name, unless the option
// Name sets another one. Collectors with different names can be registered together.
//
// The option Partitions adds metrics with the label partition, a number: 18 series for each partition. No label has
// keys, values, members or errors, whose number is unlimited.
//
// # Histograms
//
// They are classic and native at once: see package github.com/epicycle-go/epicycle/compat/adapters/prometheus, which
// exports the figures of wheels in memory.
//
// docs/monitoring.md of the project recommends alerts, and has a list of all metrics, rules and a dashboard.
package metrics
