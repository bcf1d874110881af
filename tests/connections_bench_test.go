package tests

import (
	"runtime"
	"testing"
	stdtime "time"

	"github.com/epicycle-go/epicycle/compat/time"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// connection is what a timer closes.
type connection struct{ closed bool }

func (c *connection) close() { c.closed = true }

// BenchmarkBytesPerConnection measures what the idle timeouts of 200,000 connections take, with all
// that a connection needs for it: the timer, what it calls, and what the connection keeps of it. The
// connections themselves are not counted.
func BenchmarkBytesPerConnection(b *testing.B) {
	const d = stdtime.Hour
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Stop()
	perConnection(b, "AfterFunc", func(c *connection) hierarchy.Timer { return must(w.AfterFunc(d, c.close)) })
	perConnection(b, "NewFunc", func(c *connection) *hierarchy.FuncTimer {
		t := must(w.NewFunc(c.close))
		t.Reset(d)
		return t
	})
	perConnection(b, "NewIdle", func(c *connection) *hierarchy.Idle { return must(w.NewIdle(d, c.close)) })
	perConnection(b, "compat/time", func(c *connection) *time.Timer { return time.AfterFunc(d, c.close) })
	perConnection(b, "time", func(c *connection) *stdtime.Timer { return stdtime.AfterFunc(d, c.close) })
	of := must(hierarchy.NewOf(hierarchy.Config{}, (*connection).close))
	defer of.Stop()
	perConnection(b, "Of", func(c *connection) hierarchy.Timer { return must(of.Set(c, d)) })
	keyed := must(hierarchy.NewKeyed(hierarchy.Config{}, func(_ int, c *connection) { c.close() }))
	defer keyed.Stop()
	n := 0
	perConnection(b, "Keyed", func(c *connection) struct{} {
		n++
		must(c, keyed.Set(n, c, d))
		return struct{}{}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// perConnection measures what start and its result take for each connection.
func perConnection[T any](b *testing.B, name string, start func(*connection) T) {
	b.Run("impl="+name, func(b *testing.B) {
		const n = 200_000
		all, kept := make([]connection, n), []T(nil)
		for b.Loop() {
			kept = nil
			before := liveHeap()
			kept = make([]T, n)
			for i := range kept {
				kept[i] = start(&all[i])
			}
			b.ReportMetric(float64(liveHeap()-before)/n, "B/connection")
		}
		b.ReportMetric(0, "ns/op")
		runtime.KeepAlive(kept)
		runtime.KeepAlive(all)
	})
}
