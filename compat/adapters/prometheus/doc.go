// Package prometheus exports the figures of wheels to Prometheus, by its client for Go:
//
//	prometheus.MustRegister(wheelmetrics.New(wheel))
//
// where wheelmetrics is this package and prometheus is github.com/prometheus/client_golang/prometheus. A Collector
// reads Stats of the wheel when it is scraped, and nothing in between. Stats does not walk over timers, so a scrape
// takes some microseconds, and some tens of kilobytes that are freed again.
//
// Each scrape is one snapshot of the wheel. So it always holds that
//
//	epicycle_wheel_timers_scheduled_total = fired + stopped + drained + dropped + pending
//
// # Several wheels
//
// Each metric has the label name, which is "default" unless the option Name says otherwise. Collectors with different
// names can be registered together. A name is part of each series: take few, of kinds of wheels rather than of
// single ones.
//
// # Histograms
//
// Each histogram is exported in both ways that Prometheus knows, of which a server takes one.
//
// Classic: the buckets end at powers of two nanoseconds less one, from 8 µs to 69 s, where a hierarchy.Histogram has
// bounds, too. So what is counted below a bound is exact, and a quantile is right within a factor of two.
//
// Native, where the server is configured for it: four buckets for each power of two. A duration is counted where the
// longest of its bucket of the hierarchy.Histogram is, which is at most an eighth longer. Only buckets that hold
// something take room.
//
// Counts and sums are the same in both, and exact as far as a float64 is.
//
// # Stability
//
// Names, types and labels of metrics are part of the API, as CHANGELOG.md of the project says. The bounds of buckets
// are not.
package prometheus
