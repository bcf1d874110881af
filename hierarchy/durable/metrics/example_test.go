package metrics_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/metrics"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "timers")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	timers, err := durable.Open(context.Background(), durable.Config[string, string]{Dir: dir,
		Handle: func(context.Context, durable.Firing[string, string]) error { return nil }})
	if err != nil {
		panic(err)
	}
	defer timers.Close()
	registry := prometheus.NewRegistry() // or use prometheus.MustRegister
	registry.MustRegister(metrics.New(timers))

	if _, err := timers.Set(context.Background(), "order 1", "", time.Hour); err != nil {
		panic(err)
	}
	all, err := registry.Gather() // as for each scrape
	if err != nil {
		panic(err)
	}
	for _, family := range all {
		if family.GetName() == "epicycle_durable_timers_pending" {
			fmt.Println(family.GetMetric()[0].GetGauge().GetValue(), "pending")
		}
	}
	// Output: 1 pending
}
