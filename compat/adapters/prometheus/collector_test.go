package prometheus_test

import (
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/prometheus"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// figures returns the values of the metrics with one value, and the counts of histograms, by name.
func figures(t *testing.T, c client.Collector) map[string]float64 {
	all := make(map[string]float64)
	for _, family := range families(t, c) {
		require.Len(t, family.GetMetric(), 1)
		switch m := family.GetMetric()[0]; family.GetType() {
		case dto.MetricType_GAUGE:
			all[family.GetName()] = m.GetGauge().GetValue()
		case dto.MetricType_COUNTER:
			all[family.GetName()] = m.GetCounter().GetValue()
		default:
			all[family.GetName()] = float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// families collects c as a registry does that looks whether Collect agrees with Describe.
func families(t *testing.T, c client.Collector) []*dto.MetricFamily {
	registry := client.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	all, err := registry.Gather()
	require.NoError(t, err)
	return all
}

func newWheel(t *testing.T, cfg hierarchy.Config) *hierarchy.Wheel {
	w, err := hierarchy.New(cfg)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

func TestFiguresOfAWheel(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m})
	for i := range 5 {
		timer, err := w.AfterFunc(time.Duration(1+i)*time.Second, func() {})
		require.NoError(t, err)
		if i == 4 {
			require.True(t, timer.Stop())
		}
	}
	m.Add(time.Second)
	c := prometheus.New(w)
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP epicycle_wheel_timers_pending Timers that wait for their deadlines.
# TYPE epicycle_wheel_timers_pending gauge
epicycle_wheel_timers_pending{name="default"} 3
# HELP epicycle_wheel_timers_fired_total Timers whose callbacks were dispatched.
# TYPE epicycle_wheel_timers_fired_total counter
epicycle_wheel_timers_fired_total{name="default"} 1
# HELP epicycle_wheel_stopped Whether the wheel was stopped: 0 or 1.
# TYPE epicycle_wheel_stopped gauge
epicycle_wheel_stopped{name="default"} 0
`), "epicycle_wheel_timers_pending", "epicycle_wheel_timers_fired_total", "epicycle_wheel_stopped"))
	w.Stop()
	after := figures(t, c)
	require.Equal(t, 1.0, after["epicycle_wheel_stopped"])
	require.Equal(t, 3.0, after["epicycle_wheel_timers_dropped_total"])
	require.Equal(t, 1.0, after["epicycle_wheel_timers_stopped_total"])
	require.Equal(t, 5.0, after["epicycle_wheel_timers_scheduled_total"])
	require.Equal(t, 1.0, after["epicycle_wheel_lateness_seconds"])
}

type fixed hierarchy.Stats

func (f *fixed) Stats() hierarchy.Stats { return hierarchy.Stats(*f) }

// Each field of Stats is exported, by a metric of its own: one that is added to Stats is missed here.
func TestEveryFigureIsExported(t *testing.T) {
	zero := figures(t, prometheus.New(&fixed{}))
	used := make(map[string]string)
	for i := range reflect.TypeFor[hierarchy.Stats]().NumField() {
		var st fixed
		field := reflect.ValueOf(&st).Elem().Field(i)
		name := reflect.TypeFor[hierarchy.Stats]().Field(i).Name
		switch field.Interface().(type) {
		case int:
			field.SetInt(7)
		case uint64:
			field.SetUint(7)
		case bool:
			field.SetBool(true)
		case hierarchy.Histogram:
			field.Set(reflect.ValueOf(histogramOf([]time.Duration{1, 2})))
		default:
			require.Fail(t, "a type that is not known here", name)
		}
		for metric, v := range figures(t, prometheus.New(&st)) {
			if v != zero[metric] {
				require.Empty(t, used[metric], "%s has %s, too", metric, name)
				used[metric] = name
			}
		}
	}
	require.Len(t, used, len(zero))
	require.Len(t, used, reflect.TypeFor[hierarchy.Stats]().NumField())
}

// A snapshot is one, also while the wheel works.
func TestScrapesAreConsistent(t *testing.T) {
	w := newWheel(t, hierarchy.Config{Executor: hierarchy.Inline})
	registry := client.NewPedanticRegistry()
	registry.MustRegister(prometheus.New(w))
	var scraping, setting sync.WaitGroup
	done := make(chan struct{})
	setting.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			timer, err := w.AfterFunc(time.Duration(i%100)*time.Microsecond, func() {})
			require.NoError(t, err)
			if i%2 == 0 {
				timer.Stop()
			}
		}
	})
	for range 4 {
		scraping.Go(func() {
			for range 50 {
				requireConsistent(t, registry)
			}
		})
	}
	scraping.Wait()
	close(done)
	setting.Wait()
}

func requireConsistent(t *testing.T, registry client.Gatherer) {
	all, err := registry.Gather()
	require.NoError(t, err)
	v := make(map[string]float64)
	for _, family := range all {
		m := family.GetMetric()[0]
		v[family.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	sum := 0.0
	for _, part := range []string{"fired_total", "stopped_total", "drained_total", "dropped_total", "pending"} {
		sum += v["epicycle_wheel_timers_"+part]
	}
	require.Equal(t, v["epicycle_wheel_timers_scheduled_total"], sum)
	require.Equal(t, v["epicycle_wheel_timers_fired_total"], v["epicycle_wheel_lateness_seconds"])
}

func TestSeveralWheels(t *testing.T) {
	a, b := newWheel(t, hierarchy.Config{}), newWheel(t, hierarchy.Config{})
	registry := client.NewPedanticRegistry()
	require.NoError(t, registry.Register(prometheus.New(a, prometheus.Name("a"))))
	require.NoError(t, registry.Register(prometheus.New(b, prometheus.Name("b"))))
	require.ErrorAs(t, registry.Register(prometheus.New(b, prometheus.Name("a"))), new(client.AlreadyRegisteredError))
	all, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range all {
		require.Len(t, family.GetMetric(), 2, family.GetName())
	}
}

// Everything that has a wheel's Stats is a Source.
func TestSources(t *testing.T) {
	of, err := hierarchy.NewOf(hierarchy.Config{}, func(int) {})
	require.NoError(t, err)
	defer of.Stop()
	keyed, err := hierarchy.NewKeyed(hierarchy.Config{}, func(string, int) {})
	require.NoError(t, err)
	defer keyed.Stop()
	require.NoError(t, keyed.Set("a", 1, time.Hour))
	require.Zero(t, figures(t, prometheus.New(of))["epicycle_wheel_timers_pending"])
	require.Equal(t, 1.0, figures(t, prometheus.New(keyed))["epicycle_wheel_timers_pending"])
}

func TestNilIsRefused(t *testing.T) {
	require.PanicsWithValue(t, "prometheus: New was given nil instead of a wheel", func() { prometheus.New(nil) })
	var none *hierarchy.Wheel
	require.PanicsWithValue(t, "prometheus: New was given nil instead of a wheel", func() { prometheus.New(none) })
}

// Names and texts follow the conventions of Prometheus, by the linter of the client, and by promtool where it is
// installed.
func TestNamesFollowTheConventions(t *testing.T) {
	c := prometheus.New(newWheel(t, hierarchy.Config{}))
	problems, err := testutil.CollectAndLint(c)
	require.NoError(t, err)
	require.Empty(t, problems)
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	var text strings.Builder
	for _, family := range families(t, c) {
		_, err := expfmt.MetricFamilyToText(&text, family)
		require.NoError(t, err)
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(text.String())
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, string(out))
}
