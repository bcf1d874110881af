package prometheus_test

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	wheelmetrics "github.com/epicycle-go/epicycle/compat/adapters/prometheus"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func ExampleNew() {
	wheel, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		panic(err)
	}
	defer wheel.Stop()
	registry := prometheus.NewRegistry() // or use prometheus.MustRegister
	registry.MustRegister(wheelmetrics.New(wheel, wheelmetrics.Name("timeouts")))

	if _, err := wheel.AfterFunc(time.Hour, func() {}); err != nil {
		panic(err)
	}
	all, err := registry.Gather() // as for each scrape
	if err != nil {
		panic(err)
	}
	for _, family := range all {
		if family.GetName() == "epicycle_wheel_timers_pending" {
			fmt.Println(family.GetMetric()[0].GetGauge().GetValue(), "pending")
		}
	}
	// Output: 1 pending
}
