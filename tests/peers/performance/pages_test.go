package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs is the directory of the pages that tables are written into.
const docs = "../../../docs"

// TestPages writes saved results into copies of the pages. All tables must be found, nothing
// else may change, and writing the same results again changes nothing.
func TestPages(t *testing.T) {
	for kept, page := range map[string]string{
		"testdata/results.txt": "performance.md",
		"testdata/peers.txt":   "peers.md",
		"testdata/lives.txt":   "peers.md",
	} {
		t.Run(kept, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, page)
			written, err := os.ReadFile(filepath.Join(docs, page))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, written, 0o600))
			o := options{docs: dir, from: kept}
			var texts []string
			for range 2 {
				require.NoError(t, run(context.Background(), o, io.Discard, io.Discard))
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				texts = append(texts, string(text))
			}
			require.Equal(t, texts[0], texts[1])
			require.Equal(t, prose(string(written)), prose(texts[0]))
		})
	}
}

// prose returns the lines that are not in a table.
func prose(page string) (text []string) {
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			text = append(text, line)
		}
	}
	return text
}

// TestNoPage checks that a missing page is not created.
func TestNoPage(t *testing.T) {
	require.NoError(t, writeTables(filepath.Join(t.TempDir(), "performance.md"), nil))
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte("no table\n"), 0o600))
	require.ErrorContains(t, writeTables(path, [][][]string{{{"a", "b"}}}), "| a | b |")
}

// TestPeerNames is TestNames for the jobs of -all.
func TestPeerNames(t *testing.T) {
	kept, err := os.Open("testdata/peers.txt")
	require.NoError(t, err)
	defer kept.Close()
	r, err := read(kept)
	require.NoError(t, err)
	p := choose(false, true, false)
	for _, j := range p.peerJobs(nil) {
		require.Contains(t, r, j.String())
	}
	seen := make(map[string]bool)
	for _, j := range p.jobs() {
		require.False(t, seen[j.String()], "%v twice", j)
		seen[j.String()] = true
	}
}

// TestLifeNames is TestNames for the jobs of -driven. The saved results are of the same run,
// so no cell is empty.
func TestLifeNames(t *testing.T) {
	kept, err := os.Open("testdata/lives.txt")
	require.NoError(t, err)
	defer kept.Close()
	r, err := read(kept)
	require.NoError(t, err)
	jobs := choose(false, false, true).jobs()
	require.Len(t, r, len(jobs))
	for _, j := range jobs {
		require.Contains(t, r, j.String())
	}
	require.NotContains(t, report(tables(r, lifeFamilies)), nothing)
}

// TestPeerBenchmarks runs one of each family.
func TestPeerBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs benchmarks")
	}
	own, err := os.Executable()
	require.NoError(t, err)
	for _, j := range []job{
		{benchmark{"Move", "heap", 1000}, true, "10x"},
		{benchmark{"Churn", "russellluo", 1000}, true, "10x"},
		{benchmark{"Late", "antlabs", 0}, true, "10x"},
		{benchmark{"Expire", "rfyiamcool", 10_000}, true, once},
		{benchmark{"StoreAdd", "face", few}, true, "10x"},
		{benchmark{"StoreUpdate", "thw", few}, true, "10x"},
		{benchmark{"LeaseRenew", "etcd", few}, true, "10x"},
		{benchmark{"StoreLife", "driven" + ordered, few}, true, once},
		{benchmark{"LeaseLife", "driven", few}, true, once},
		{benchmark{"CacheLife", "otter", few}, true, once},
	} {
		_, err := binaries{own: own}.run(context.Background(), j)
		require.NoError(t, err)
	}
}
