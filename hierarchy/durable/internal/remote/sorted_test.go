package remote

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// What is asked is what the owner reads, and no part of it can be left out.
func TestQueries(t *testing.T) {
	for _, q := range []partition.Query{
		{States: state.Dead, Prefix: "p", From: "p\x00", Limit: 7, Bytes: 300, Logged: true},
		{States: state.Waiting | state.Running, Limit: 1},
	} {
		b := appendQuery(nil, &q)
		c := newCutter(b)
		require.Equal(t, q, c.query(1000))
		require.NoError(t, c.end())
		for n := range b {
			c := newCutter(b[:n])
			c.query(1000)
			require.Error(t, c.end(), n)
		}
		c = newCutter(b)
		small := c.query(100)
		require.Equal(t, []int{min(q.Limit, 100), min(q.Bytes, 100)}, []int{small.Limit, small.Bytes})
	}
	for name, q := range map[string]partition.Query{"no limit": {States: state.Dead}, "an unknown state": {States: 16, Limit: 1}} {
		c := newCutter(appendQuery(nil, &q))
		c.query(1000)
		require.Error(t, c.end(), name)
	}
}

// An owner answers with as many timers as fit into a message, in order, and the next owner goes on.
func TestSorted(t *testing.T) {
	b := newBench(t)
	o, c := b.own(), b.client()
	const n = 20_000
	for i := 0; i < n; i += 1000 {
		var ops []core.Op
		for j := range 1000 {
			ops = append(ops, setOp(fmt.Sprintf("%05d", i+j), strings.Repeat("x", 20)))
		}
		b.do(c, ops...)
	}
	b.True(b.do(c, setOp("00017", strings.Repeat("y", 1000))).Took[0])
	q := partition.Query{States: state.Waiting, Limit: n, Bytes: 1 << 30}
	seen, messages := 0, 0
	for more := true; more; messages++ {
		found, err := c.List(t.Context(), 0, &q)
		b.NoError(err)
		b.LessOrEqual(len(found.Timers), pageBytes/100)
		for _, x := range found.Timers {
			b.Equal(fmt.Sprintf("%05d", seen), x.Key)
			seen++
			q.From = partition.After(x.Key)
		}
		if more = found.More; seen > n/2 && o != nil {
			o.shut()
			o = nil
			b.own()
		}
	}
	b.Equal(n, seen)
	b.Greater(messages, n*100/pageBytes)
	found, err := c.List(t.Context(), 0, &partition.Query{States: state.Dead, Limit: 1, Bytes: 1})
	b.NoError(err)
	b.Zero(found)
	found, err = c.List(t.Context(), 0, &partition.Query{States: state.Waiting, Limit: 1, Bytes: 1, Prefix: "00017"})
	b.NoError(err)
	b.Len(found.Timers[0].Value, 1000)
	b.WithinDuration(time.Now().Add(time.Hour), time.Unix(0, found.Timers[0].Due), time.Minute)
}
