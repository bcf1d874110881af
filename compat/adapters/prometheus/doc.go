// Package prometheus exports the figures of wheels to Prometheus, through the Prometheus client for Go:
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
// names can be registered together. A name is part of each series. So use few names, for kinds of wheels rather than
// for single wheels.
//
// # Histograms
//
// Each histogram is exported in both forms that Prometheus has, as a classic and as a native histogram. A server takes
// one of them.
//
// Classic: the buckets end at powers of two nanoseconds less one, from 8 µs to 69 s, where a hierarchy.Histogram has
// bounds, too. So the number of durations below a bound is exact, and a quantile is right within a factor of two.
//
// Native, where the server is configured for it: four buckets for each power of two. A hierarchy.Histogram keeps only
// the bucket of each duration, so each is counted as the longest duration of that bucket, which is at most an eighth
// longer. Empty buckets take no room.
//
// Counts and sums are the same in both forms. They are exact, except that a float64 rounds.
//
// # Stability
//
// Names, types and labels of metrics are part of the API, as CHANGELOG.md of the project says. The bounds of buckets
// are not part of it.
package prometheus
