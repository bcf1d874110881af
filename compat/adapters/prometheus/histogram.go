package prometheus

import (
	"math"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Histogram returns a metric with the counts of h, as a classic and as a native histogram: see the package comment. Use
// it in a Collector for durations of your own. If the label values do not fit desc, collecting the metric returns an
// error.
func Histogram(desc *client.Desc, h hierarchy.Histogram, labelValues ...string) client.Metric {
	if _, err := client.NewConstMetric(desc, client.UntypedValue, 0, labelValues...); err != nil {
		return client.NewInvalidMetric(desc, err)
	}
	m := &metric{desc: desc, labels: client.MakeLabelPairs(desc, labelValues)}
	m.histogram.SampleCount = ptr(h.Count())
	m.histogram.SampleSum = ptr(h.Sum())
	m.histogram.Bucket = classic(h)
	setNative(&m.histogram, h)
	return m
}

// metric is immutable.
type metric struct {
	desc      *client.Desc
	labels    []*dto.LabelPair
	histogram dto.Histogram
}

func (m *metric) Desc() *client.Desc { return m.desc }

func (m *metric) Write(out *dto.Metric) error {
	out.Label = m.labels
	out.Histogram = &m.histogram
	return nil
}

// Classic buckets end at 1<<power - 1 nanoseconds, where a hierarchy.Histogram has bounds.
const firstPower, lastPower = 13, 36

func bound(power int) time.Duration { return 1<<power - 1 }

// classic returns the classic buckets, which are cumulative. All histograms have the same buckets, even empty ones,
// because rate and histogram_quantile need the same buckets.
func classic(h hierarchy.Histogram) []*dto.Bucket {
	buckets := make([]*dto.Bucket, 0, lastPower-firstPower+1)
	seen, power := uint64(0), firstPower
	end := func() {
		buckets = append(buckets, &dto.Bucket{UpperBound: ptr(bound(power).Seconds()), CumulativeCount: ptr(seen)})
		power++
	}
	for upTo, n := range h.Buckets() {
		for power <= lastPower && upTo > bound(power) {
			end()
		}
		seen += n
	}
	for power <= lastPower {
		end()
	}
	return buckets
}

// schema 2 is the schema of native histograms whose buckets end at the powers of the fourth root of two.
const schema = 2

// setNative adds the native buckets to d.
func setNative(d *dto.Histogram, h hierarchy.Histogram) {
	zeros := uint64(0)
	var all []native
	for upTo, n := range h.Buckets() {
		if upTo == 0 {
			zeros = n
			continue
		}
		if at, last := nativeFor(upTo), len(all)-1; last >= 0 && all[last].at == at {
			all[last].n += n
		} else {
			all = append(all, native{at, n})
		}
	}
	d.Schema = ptr(int32(schema))
	d.ZeroThreshold = ptr(client.DefNativeHistogramZeroThreshold)
	d.ZeroCount = ptr(zeros)
	d.PositiveSpan, d.PositiveDelta = spans(all)
}

// native is a bucket that is not empty. It counts the durations that are longer than 2^((at-1)/4) seconds and not
// longer than 2^(at/4).
type native struct {
	at int
	n  uint64
}

// nativeFor returns the index of the native bucket for d > 0. No bound of a hierarchy.Histogram is so near a bound of
// a native bucket that rounding would matter.
func nativeFor(d time.Duration) int {
	return int(math.Ceil(math.Log2(d.Seconds()) * (1 << schema)))
}

// spans returns the runs of adjacent buckets, each with its distance from the run before. deltas are the counts of the
// buckets, each as the difference from the count before.
func spans(all []native) (runs []*dto.BucketSpan, deltas []int64) {
	next, before := 0, int64(0)
	for _, b := range all {
		if gap := b.at - next; gap != 0 || len(runs) == 0 {
			runs = append(runs, &dto.BucketSpan{Offset: ptr(int32(gap)), Length: ptr(uint32(0))})
		}
		*runs[len(runs)-1].Length++
		deltas = append(deltas, int64(b.n)-before)
		next, before = b.at+1, int64(b.n)
	}
	return runs, deltas
}

func ptr[T any](v T) *T { return &v }
