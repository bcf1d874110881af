package metrics_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

type firing = durable.Firing[string, string]

func open(t *testing.T, cfg durable.Config[string, string]) *durable.Keyed[string, string] {
	if cfg.Dir == "" && cfg.Conn == nil {
		cfg.Dir = t.TempDir()
	}
	if cfg.Handle == nil {
		cfg.Handle = func(context.Context, firing) error { return nil }
	}
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// local returns a connection to a server in this process, until the test ends.
func local(t *testing.T) *nats.Conn {
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s.Conn()
}

// families collects all as a registry does that looks whether Collect agrees with Describe.
func families(t *testing.T, all ...prometheus.Collector) []*dto.MetricFamily {
	registry := prometheus.NewPedanticRegistry()
	for _, c := range all {
		require.NoError(t, registry.Register(c))
	}
	gathered, err := registry.Gather()
	require.NoError(t, err)
	return gathered
}

// figures returns the values of all series, for histograms their counts, by the name of the metric and the partition.
func figures(t *testing.T, c prometheus.Collector) map[string]float64 {
	all := make(map[string]float64)
	for _, family := range families(t, c) {
		for _, m := range family.GetMetric() {
			series := family.GetName()
			for _, l := range m.GetLabel() {
				if l.GetName() == "partition" {
					series += " " + l.GetValue()
				}
			}
			all[series] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// fixed is a Source whose Health is nil.
type fixed durable.Stats

func (f *fixed) Stats() durable.Stats { return durable.Stats(*f) }
func (f *fixed) Health() error        { return nil }
