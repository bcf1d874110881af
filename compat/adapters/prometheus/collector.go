package prometheus

import (
	"reflect"

	client "github.com/prometheus/client_golang/prometheus"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Source returns the figures to export. A *hierarchy.Wheel, *hierarchy.Of or *hierarchy.Keyed is a Source.
type Source interface {
	Stats() hierarchy.Stats
}

// Option is an option of New.
type Option func(*options)

type options struct{ name string }

// Name sets the label name of all metrics. The default is "default".
func Name(name string) Option {
	return func(o *options) { o.name = name }
}

// New returns a Collector of the figures of source. Collect may be called concurrently, even after the wheel was
// stopped. New panics if source is nil.
func New(source Source, opts ...Option) client.Collector {
	if v := reflect.ValueOf(source); source == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("prometheus: New was given nil instead of a wheel")
	}
	o := options{name: "default"}
	for _, option := range opts {
		option(&o)
	}
	labels := client.Labels{"name": o.name}
	return &collector{source, described(gauges, labels), described(counters, labels), described(distributions, labels)}
}

// collector is immutable.
type collector struct {
	source        Source
	gauges        []figure[int]
	counters      []figure[uint64]
	distributions []figure[hierarchy.Histogram]
}

type figure[V any] struct {
	desc  *client.Desc
	value func(*hierarchy.Stats) V
}

func described[V any](rows []row[V], labels client.Labels) (all []figure[V]) {
	for _, r := range rows {
		all = append(all, figure[V]{client.NewDesc("epicycle_wheel_"+r.name, r.help, nil, labels), r.value})
	}
	return all
}

func (c *collector) Describe(descs chan<- *client.Desc) {
	for _, f := range c.gauges {
		descs <- f.desc
	}
	for _, f := range c.counters {
		descs <- f.desc
	}
	for _, f := range c.distributions {
		descs <- f.desc
	}
}

// Collect exports one snapshot.
func (c *collector) Collect(metrics chan<- client.Metric) {
	st := c.source.Stats()
	for _, f := range c.gauges {
		metrics <- client.MustNewConstMetric(f.desc, client.GaugeValue, float64(f.value(&st)))
	}
	for _, f := range c.counters {
		metrics <- client.MustNewConstMetric(f.desc, client.CounterValue, float64(f.value(&st)))
	}
	for _, f := range c.distributions {
		metrics <- Histogram(f.desc, f.value(&st))
	}
}
