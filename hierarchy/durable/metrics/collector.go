package metrics

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	wheelmetrics "github.com/epicycle-go/epicycle/compat/adapters/prometheus"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Source is the source of the figures: a *durable.Keyed.
type Source interface {
	Stats() durable.Stats
	Health() error
}

// Option is an option of New.
type Option func(*options)

type options struct {
	name       string
	partitions bool
}

// Name sets the label name of all metrics. It should be the Name of the Config. The default is "timers", as in the
// Config.
func Name(name string) Option {
	return func(o *options) { o.name = name }
}

// Partitions adds the figures of each partition, as metrics with the label partition.
func Partitions() Option {
	return func(o *options) { o.partitions = true }
}

// New returns a Collector of the figures of source. Collect may be called concurrently, even after Shutdown and Close.
// New panics if source is nil.
func New(source Source, opts ...Option) prometheus.Collector {
	if v := reflect.ValueOf(source); source == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("metrics: New was given nil instead of timers")
	}
	o := options{name: "timers"}
	for _, option := range opts {
		option(&o)
	}
	labels := prometheus.Labels{"name": o.name}
	return &collector{
		source: source, each: o.partitions,
		healthy: desc("healthy", "Whether the process does its part, which is whether Health is nil: 0 or 1.", nil, labels),
		gauges:  described(gauges, labels), counters: described(counters, labels), distributions: described(distributions, labels),
		partitions: append(summed(partitionGauges, prometheus.GaugeValue, labels),
			summed(partitionCounters, prometheus.CounterValue, labels)...),
	}
}

// collector is immutable.
type collector struct {
	source        Source
	each          bool // whether the figures of each partition are exported
	healthy       *prometheus.Desc
	gauges        []figure[float64]
	counters      []figure[float64]
	distributions []figure[hierarchy.Histogram]
	partitions    []sum
}

type figure[V any] struct {
	desc  *prometheus.Desc
	value func(*stats) V
}

func described[V any](rows []row[stats, V], labels prometheus.Labels) (all []figure[V]) {
	for _, r := range rows {
		all = append(all, figure[V]{desc(r.name, r.help, nil, labels), r.value})
	}
	return all
}

func desc(name, help string, variable []string, labels prometheus.Labels) *prometheus.Desc {
	return prometheus.NewDesc("epicycle_durable_"+name, help, variable, labels)
}

// sum is a figure that is summed over all partitions.
type sum struct {
	all, each *prometheus.Desc
	kind      prometheus.ValueType
	value     func(*partition) float64
}

func summed(rows []row[partition, float64], kind prometheus.ValueType, labels prometheus.Labels) (all []sum) {
	for _, r := range rows {
		each := "partition_" + strings.TrimPrefix(r.name, "partitions_")
		all = append(all, sum{
			desc(r.name, r.help, nil, labels), desc(each, r.help+" By partition.", []string{"partition"}, labels), kind, r.value,
		})
	}
	return all
}

func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.healthy
	for _, f := range c.gauges {
		descs <- f.desc
	}
	for _, f := range c.counters {
		descs <- f.desc
	}
	for _, f := range c.distributions {
		descs <- f.desc
	}
	for _, f := range c.partitions {
		descs <- f.all
		if c.each {
			descs <- f.each
		}
	}
}

// Collect exports one snapshot of Stats, and the result of Health.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	metrics <- prometheus.MustNewConstMetric(c.healthy, prometheus.GaugeValue, oneIf(c.source.Health() == nil))
	st := c.source.Stats()
	for _, f := range c.gauges {
		metrics <- prometheus.MustNewConstMetric(f.desc, prometheus.GaugeValue, f.value(&st))
	}
	for _, f := range c.counters {
		metrics <- prometheus.MustNewConstMetric(f.desc, prometheus.CounterValue, f.value(&st))
	}
	for _, f := range c.distributions {
		metrics <- wheelmetrics.Histogram(f.desc, f.value(&st))
	}
	for _, f := range c.partitions {
		c.collect(f, st.Partitions, metrics)
	}
}

func (c *collector) collect(f sum, partitions []partition, metrics chan<- prometheus.Metric) {
	total := 0.0
	for at := range partitions {
		v := f.value(&partitions[at])
		total += v
		if c.each {
			metrics <- prometheus.MustNewConstMetric(f.each, f.kind, v, strconv.Itoa(at))
		}
	}
	metrics <- prometheus.MustNewConstMetric(f.all, f.kind, total)
}
