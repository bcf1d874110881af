package main

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
	"github.com/epicycle-go/epicycle/tests/long"
)

func TestMain(m *testing.M) { leak.Main(m) }

// What processes print is added up, kind by kind; what has failed is shown without what has passed.
func TestOutput(t *testing.T) {
	s := &simulation{counts: make(map[string]*steps.Tally)}
	line := steps.Tally{Histories: 3, Operations: 5, Faults: 7, Time: time.Hour}.String()
	require.True(t, s.add("cores", []byte("    x_test.go:1: "+line+"\nPASS\n")))
	require.True(t, s.add("cores", []byte(line+"\n")))
	require.True(t, s.add("clusters", []byte(line+"\n    x_test.go:1: pairs of faults, of 2: 0+1 1+1\n")))
	n, most := s.pairs.Counts()
	require.Equal(t, [2]int{2, 3}, [2]int{n, most})
	require.False(t, s.add("cores", []byte("testing: warning: no tests to run\nPASS\n")))
	require.Equal(t, steps.Tally{Histories: 6, Operations: 10, Faults: 14, Time: 2 * time.Hour}, *s.counts["cores"])
	require.Equal(t, "    --- FAIL: a\n", string(relevant([]byte("=== RUN a\n    --- FAIL: a\n--- PASS: b\n"))))
}

// So many histories are simulated as are asked for, each with its own seed.
func TestDraw(t *testing.T) {
	s := &simulation{left: 31 + kinds[turns[1]].histories, next: 7}
	var all []uint64
	for {
		k, seed, ok := s.draw()
		if !ok {
			break
		}
		all = append(all, seed, k.histories)
	}
	require.Equal(t, []uint64{7, 30, 37, 4000, 4037, 1}, all)
	require.ErrorContains(t, only("circles"), "no such kind")
}

// The command builds what it runs, and all kinds have histories.
func TestRun(t *testing.T) {
	long.Only(t)
	t.Chdir("..")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	require.NoError(t, run(ctx, 1, math.MaxUint64, time.Minute))
}
