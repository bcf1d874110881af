package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/metrics"
)

func TestFiguresOfTimers(t *testing.T) {
	mock := clock.NewMock()
	w := open(t, durable.Config[string, string]{Clock: mock, MaxAttempts: 1,
		Handle: func(_ context.Context, f firing) error {
			if f.Key == "bad" {
				return errors.New("no")
			}
			return nil
		}})
	for _, k := range []string{"a", "b", "c", "d", "bad"} {
		_, err := w.Set(t.Context(), k, "", time.Second)
		require.NoError(t, err)
	}
	_, err := w.Set(t.Context(), "later", "", time.Hour)
	require.NoError(t, err)
	_, _, err = w.Move(t.Context(), "a", time.Hour)
	require.NoError(t, err)
	_, _, err = w.Remove(t.Context(), "b")
	require.NoError(t, err)
	mock.Add(time.Second)
	c := metrics.New(w)
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP epicycle_durable_timers_pending Timers that are not dead.
# TYPE epicycle_durable_timers_pending gauge
epicycle_durable_timers_pending{name="timers"} 2
# HELP epicycle_durable_timers_set_total Timers that were set.
# TYPE epicycle_durable_timers_set_total counter
epicycle_durable_timers_set_total{name="timers"} 6
`), "epicycle_durable_timers_pending", "epicycle_durable_timers_set_total"))
	all := figures(t, c)
	for name, want := range map[string]float64{"timers_dead": 1, "timers_moved_total": 1, "timers_removed_total": 1,
		"attempts_total": 3, "attempts_failed_total": 1, "timers_died_total": 1, "lateness_seconds": 3, "partitions": 1, "partitions_owned": 1,
		"healthy": 1, "partitions_damaged": 0, "partitions_unavailable": 0, "members": 0, "attempts_running": 0} {
		require.Equal(t, want, all["epicycle_durable_"+name], name)
	}
	require.NoError(t, w.Shutdown(t.Context()))
	require.Equal(t, 6.0, figures(t, c)["epicycle_durable_timers_set_total"], "after Shutdown, too")
	require.Zero(t, figures(t, c)["epicycle_durable_healthy"])
}

// What is said of all partitions is the sum of what is said of each.
func TestPartitionsAddUp(t *testing.T) {
	w := open(t, durable.Config[string, string]{Conn: local(t), Partitions: 3})
	for i := range 30 {
		_, err := w.Set(t.Context(), fmt.Sprint(i), "", time.Hour)
		require.NoError(t, err)
	}
	st := fixed(w.Stats())
	without, with := figures(t, metrics.New(&st)), figures(t, metrics.New(&st, metrics.Partitions()))
	sums := make(map[string]float64)
	for series, v := range with {
		if name, _, ok := strings.Cut(series, " "); ok {
			sums[name] += v
		} else {
			require.Equal(t, without[series], v, series)
		}
	}
	require.Len(t, sums, 18)
	for name, sum := range sums {
		name := strings.TrimPrefix(name, "epicycle_durable_partition_")
		total, ok := with["epicycle_durable_"+name]
		if !ok {
			total, ok = with["epicycle_durable_partitions_"+name]
		}
		require.True(t, ok, name)
		require.Equal(t, total, sum, name)
	}
	require.Len(t, with, len(without)+3*18)
	require.Equal(t, 30.0, with["epicycle_durable_timers_pending"])
	require.Equal(t, 3.0, sums["epicycle_durable_partition_owned"])
}

// Each field of PartitionStats is exported by a metric of its own, and each field of Stats is of these or by one of its
// own. A field that is added is missed here.
func TestEveryFigureIsExported(t *testing.T) {
	used := make(map[string]string)
	// changed reports whether one metric, and which, has changed by st.
	changed := func(field string, st durable.Stats) {
		zero := figures(t, metrics.New(&fixed{Partitions: make([]durable.PartitionStats, 1)}))
		for metric, v := range figures(t, metrics.New((*fixed)(&st))) {
			if v != zero[metric] {
				require.Empty(t, used[metric], "%s has %s, too", metric, field)
				used[metric] = field
			}
		}
		require.Contains(t, mapped(used), field)
	}
	ofPartition := reflect.TypeFor[durable.PartitionStats]()
	for i := range ofPartition.NumField() {
		name := ofPartition.Field(i).Name
		var p durable.PartitionStats
		if !set(reflect.ValueOf(&p).Elem().Field(i)) || name == notSummed {
			continue // the others are Owner and histograms
		}
		changed(name, durable.Stats{Partitions: []durable.PartitionStats{p}})
	}
	ofAll := reflect.TypeFor[durable.Stats]()
	for i := range ofAll.NumField() {
		name := ofAll.Field(i).Name
		_, sum := ofPartition.FieldByName(name)
		if durations := ofAll.Field(i).Type == reflect.TypeFor[hierarchy.Histogram](); sum && name != notSummed && !durations || name == "Damaged" {
			continue
		}
		st := durable.Stats{Partitions: make([]durable.PartitionStats, 1)}
		switch field := reflect.ValueOf(&st).Elem().Field(i); name {
		case "Partitions":
			st.Partitions = make([]durable.PartitionStats, 2)
		case "Members":
			st.Members = make([]durable.MemberStats, 2)
		default:
			require.True(t, set(field) || setHistogram(field), "%s is of a kind that is not known here", name)
		}
		changed(name, st)
	}
	require.Len(t, used, len(figures(t, metrics.New(&fixed{})))-1, "one is Health")
}

// notSummed counts more in Stats than in all PartitionStats together, as partitions leave what is stuck behind.
const notSummed = "Stuck"

func mapped(used map[string]string) map[string]bool {
	fields := make(map[string]bool)
	for _, field := range used {
		fields[field] = true
	}
	return fields
}

// set gives a field a value other than zero, if it is of a kind that one series can show.
func set(field reflect.Value) bool {
	switch field.Interface().(type) {
	case int, int64, time.Duration:
		field.SetInt(7)
	case uint64:
		field.SetUint(7)
	case bool:
		field.SetBool(true)
	case time.Time:
		field.Set(reflect.ValueOf(time.Unix(1, 0)))
	default:
		if field.Type() != reflect.TypeFor[error]() {
			return false
		}
		field.Set(reflect.ValueOf(errors.New("damaged")))
	}
	return true
}

func setHistogram(field reflect.Value) bool {
	h, ok := field.Addr().Interface().(*hierarchy.Histogram)
	if ok {
		h.Add(time.Second)
	}
	return ok
}

// Collect may be called concurrently, while timers are set and fire. No counter decreases from one scrape to the next.
func TestScrapesWhileTimersFire(t *testing.T) {
	w := open(t, durable.Config[string, string]{Conn: local(t), Partitions: 2})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics.New(w, metrics.Partitions()))
	var scraping, setting sync.WaitGroup
	done := make(chan struct{})
	setting.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				_, err := w.Set(t.Context(), fmt.Sprint(i%50), "", time.Duration(i%3)*time.Millisecond)
				require.NoError(t, err)
			}
		}
	})
	for range 3 {
		scraping.Go(func() {
			before := make(map[string]float64)
			for range 50 {
				requireGrowing(t, registry, before)
			}
		})
	}
	scraping.Wait()
	close(done)
	setting.Wait()
}

// requireGrowing requires that no counter is less than before, and puts it there. What a histogram counts is all in its
// buckets.
func requireGrowing(t *testing.T, g prometheus.Gatherer, before map[string]float64) {
	all, err := g.Gather()
	require.NoError(t, err)
	for _, family := range all {
		for _, m := range family.GetMetric() {
			series := family.GetName() + fmt.Sprint(m.GetLabel())
			v := m.GetCounter().GetValue()
			if h := m.GetHistogram(); h != nil {
				v = float64(h.GetSampleCount())
				n, sum := int64(0), h.GetZeroCount()
				for _, d := range h.GetPositiveDelta() {
					n += d
					sum += uint64(n)
				}
				require.Equal(t, h.GetSampleCount(), sum, series)
			}
			require.GreaterOrEqual(t, v, before[series], series)
			before[series] = v
		}
	}
}

func TestSeveralNames(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(metrics.New(&fixed{}, metrics.Name("a"), metrics.Partitions())))
	require.NoError(t, registry.Register(metrics.New(&fixed{}, metrics.Name("b"))))
	require.ErrorAs(t, registry.Register(metrics.New(&fixed{}, metrics.Name("b"))), new(prometheus.AlreadyRegisteredError))
	all, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range all {
		require.Len(t, family.GetMetric(), 2, family.GetName())
	}
}

func TestNilIsRefused(t *testing.T) {
	require.PanicsWithValue(t, "metrics: New was given nil instead of timers", func() { metrics.New(nil) })
	var none *durable.Keyed[string, string]
	require.PanicsWithValue(t, "metrics: New was given nil instead of timers", func() { metrics.New(none) })
}
