package durable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// counted calls at when its error has been asked for so many times, as Export does for each timer.
type counted struct {
	context.Context
	left atomic.Int64
	at   func()
}

func (c *counted) Err() error {
	if c.left.Add(-1) == 0 {
		c.at()
	}
	return c.Context.Err()
}

// exportMoved exports with w, and calls change after so many timers. It returns the values by key, and that no key came
// twice.
func exportMoved(t *testing.T, w *strs, after int64, change func()) map[string]string {
	ctx := &counted{Context: t.Context(), at: change}
	ctx.left.Store(after)
	var out bytes.Buffer
	require.NoError(t, w.Export(ctx, &out))
	require.LessOrEqual(t, ctx.left.Load(), int64(0), "the owner has changed during the export")
	values := make(map[string]string)
	for line := range strings.Lines(out.String()) {
		var timer struct {
			Key    string
			Value  string `json:"value_text"`
			Timers *int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &timer))
		if timer.Timers != nil {
			require.Len(t, values, *timer.Timers)
			continue
		}
		require.NotContains(t, values, timer.Key)
		values[timer.Key] = timer.Value
	}
	return values
}

// inTheMiddleOf returns about how many of the timers come before the middle of the last partition that w owns.
func inTheMiddleOf(w *strs, timers int64) int64 {
	partitions := w.Stats().Partitions
	for at := len(partitions) - 1; at > 0; at-- {
		if partitions[at].Owned {
			return timers * int64(2*at+1) / int64(2*len(partitions))
		}
	}
	return 1
}

// Each timer that exists throughout an Export is in it once, whoever exports, and however its owner changes meanwhile. One
// that is set again meanwhile is in it as it was at some moment of it.
func TestExportWhileTheOwnerChanges(t *testing.T) {
	t.Parallel() // it waits for leases
	const stable, changing = 4000, 100
	urls, _ := natsServers(t, 1)
	open := func() *strs { return openShared(t, connect(t, urls), new(record), time.Second) }
	a := open()
	var b durable.Batch[string, string]
	for i := range stable {
		b.Set(fmt.Sprint(i), strings.Repeat("v", 800), time.Hour)
	}
	require.NoError(t, a.Batch(t.Context(), &b))
	outside, version := caller(t, urls), 0
	set := func() {
		version++
		b.Reset()
		for i := range changing {
			b.Set(fmt.Sprint("changing", i), fmt.Sprintf("version %09d", version), time.Hour)
		}
		require.NoError(t, outside.Batch(t.Context(), &b))
	}
	next := (*strs)(nil)
	for _, c := range []struct {
		name   string
		by     func() *strs
		change func()
	}{
		{"an owner joins", func() *strs { return outside }, func() { next = open() }},
		{"an owner dies", func() *strs { return outside }, func() { a.Close() }},
		{"an owner that exports shares", func() *strs { return next }, func() { a, next = next, open() }},
		{"an owner leaves", func() *strs { return outside }, func() { require.NoError(t, a.Shutdown(t.Context())) }},
	} {
		set()
		before := version
		values := exportMoved(t, c.by(), inTheMiddleOf(a, stable+changing), func() {
			set()
			c.change()
			set()
		})
		require.Len(t, values, stable+changing, c.name)
		for i := range changing {
			v := values[fmt.Sprint("changing", i)]
			require.GreaterOrEqual(t, v, fmt.Sprintf("version %09d", before), c.name)
			require.LessOrEqual(t, v, fmt.Sprintf("version %09d", version), c.name)
		}
	}
	require.NoError(t, next.Shutdown(t.Context()))
}
