package main

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/peers/internal/chart/charttest"
)

// tinyPlan covers everything that can be done in a few seconds.
var tinyPlan = plan{rounds: 1, time: "10x", pending: []int{1, 1000}, crowd: 10_000, resets: 1_000_000}

// TestRun runs benchmarks that are too short to mean anything. TestNames checks that the
// slow ones exist.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs benchmarks")
	}
	own, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	o := options{plan: tinyPlan, root: "../../..", own: own, docs: dir, keep: filepath.Join(dir, "results.txt")}
	var out strings.Builder
	require.NoError(t, run(context.Background(), o, &out, io.Discard))
	requirePictures(t, dir)
	require.NotContains(t, out.String(), nothing, "a cell is empty")
	require.Equal(t, len(tinyPlan.pending)+1, strings.Count(out.String(), "\n| 1"), "rows of costs and of resets")
	require.FileExists(t, o.keep)
}

// TestFrom draws saved results of all benchmarks.
func TestFrom(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	o := options{docs: dir, from: "testdata/results.txt"}
	require.NoError(t, run(context.Background(), o, &out, io.Discard))
	requirePictures(t, dir)
	require.Equal(t, 1, strings.Count(out.String(), nothing), "go-zero with 10,000,000 pending")
	for _, head := range []string{"pending", "a million pending", "implementation"} {
		require.Contains(t, out.String(), "\n| "+head+" |")
	}
	for _, row := range []string{
		"| 10,000,000 |", "| reset of a random timer to any time |", "| CPU time to set them and let them fire over 2 s |",
		"| Wheel, Pool(64) |", "| Wheel, Precision 1 µs, Inline |", "| Of |",
	} {
		require.Contains(t, out.String(), "\n"+row)
	}
}

// What could not be measured is said, and the rest is kept, but pages are not made of it.
func TestUnmeasured(t *testing.T) {
	dir := t.TempDir()
	printed := "BenchmarkCascade/impl=time/n=1000000-2 \t 1\t 9.5 crowd-max-µs\n" +
		"--- BENCH: BenchmarkCascade/impl=time/n=1000000-2\n" +
		"    bench_burst_test.go:33: not measured: 1ms, as setting outlasted it\n" +
		"BenchmarkBurst/impl=time/n=1000000-2 \t 1\t 5 ns/op\n"
	require.Equal(t, []string{"not measured: 1ms, as setting outlasted it"}, unmeasured([]byte(printed)))
	from := filepath.Join(dir, "results.txt")
	require.NoError(t, os.WriteFile(from, []byte(printed), 0o600))
	var out strings.Builder
	require.NoError(t, run(context.Background(), options{from: from}, &out, io.Discard))
	require.Contains(t, out.String(), "| time.AfterFunc | – | – | 9.5 µs | – | – |")
	require.Contains(t, out.String(), "| time.AfterFunc | – | – | – | – | – | – |")
	require.ErrorIs(t, run(context.Background(), options{from: from, docs: dir}, &out, io.Discard), errUnmeasured)
	require.NoFileExists(t, filepath.Join(dir, "performance-cost.svg"))
}

func TestRunNoBenchmark(t *testing.T) {
	own, err := os.Executable()
	require.NoError(t, err)
	_, err = binaries{own: own}.run(context.Background(), job{benchmark{"None", "time", 1}, true, once})
	require.ErrorIs(t, err, errNoBenchmark)
}

func requirePictures(t *testing.T, dir string) {
	for file, labelled := range map[string][]string{
		"performance-cost.svg":   costImpls,
		"performance-burst.svg":  burstImpls,
		"performance-memory.svg": memoryImpls,
	} {
		picture := charttest.RequireSVG(t, filepath.Join(dir, file))
		for _, impl := range labelled {
			require.Contains(t, picture, labels[impl], file)
		}
	}
}

// TestNames checks that each job of the full plan names a benchmark in the saved results,
// and matches no other.
func TestNames(t *testing.T) {
	kept, err := os.Open("testdata/results.txt")
	require.NoError(t, err)
	defer kept.Close()
	r, err := read(kept)
	require.NoError(t, err)
	jobs := fullPlan.jobs()
	require.Len(t, r, len(jobs))
	for _, j := range jobs {
		require.Contains(t, r, j.String())
	}
	require.Equal(t, "^BenchmarkReset$/^impl=time$/^to=any$/^n=5$", benchmark{"Reset", "time/to=any", 5}.pattern())
}

func TestRead(t *testing.T) {
	r, err := read(strings.NewReader(`goos: linux
BenchmarkA/impl=x/n=10-2  1  30 ns/op  5.0 call-µs
BenchmarkA/impl=x/n=10-2  1  10 ns/op  7.0 call-µs
BenchmarkA/impl=x/n=10-2  1  20 ns/op  6.0 call-µs
BenchmarkA/impl=x/n=2     1  8 ns/op
PASS
`))
	require.NoError(t, err)
	b := benchmark{"A", "x", 10}
	require.Equal(t, 20.0, r.median(b, "ns/op"))
	require.Equal(t, 6.0, r.median(b, "call-µs"))
	require.True(t, math.IsNaN(r.median(b, "else")))
	require.Equal(t, []int{2, 10}, r.numbers("A", "x"))
	require.True(t, r.measured("A"))
	require.False(t, r.measured("B"))
	require.Equal(t, "2.50", r.ratio(b, benchmark{"A", "x", 2}, "ns/op"))
	require.Equal(t, nothing, r.ratio(b, benchmark{"A", "y", 2}, "ns/op"))

	_, err = read(strings.NewReader("PASS\n"))
	require.ErrorIs(t, err, errNothing)
}

func TestShareOf(t *testing.T) {
	share, ok := shareOf("over-1e-05-µs")
	require.True(t, ok)
	require.Equal(t, 1e-5, share)
	for _, unit := range []string{"call-max-µs", "over-0.1", "0.1-µs", "over-x-µs", "ns/op"} {
		_, ok := shareOf(unit)
		require.False(t, ok, unit)
	}
}
