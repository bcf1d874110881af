package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// The test binary is a worker, a caller and a server, too.
func TestMain(m *testing.M) {
	runIfChild()
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) // go-zero starts goroutines when it is imported
}

// Every system that is installed runs what takes little time, and durable timers run the rest. Figures at this scale
// mean nothing.
func TestCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	for _, only := range []string{"schedule,move", "late,burst20k,sustained,rest:server"} {
		t.Run(only, func(t *testing.T) { testCommand(t, only) })
	}
}

func testCommand(t *testing.T, only string) {
	page, whole := filepath.Join(t.TempDir(), "page.md"), filepath.Join(t.TempDir(), "measured.txt")
	require.NoError(t, os.WriteFile(page, []byte("before\n"+begin+end+"after\n"), 0o600))
	var out, progress bytes.Buffer
	require.NoError(t, run(t.Context(), options{only: only, scale: 0.002, page: page, whole: whole}, &out, &progress), progress.String())
	require.Empty(t, out.String())
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "before\n"+begin), "the beginning stays")
	require.True(t, strings.HasSuffix(string(text), end+"after\n"), "the end stays")
	all, err := os.ReadFile(whole)
	require.NoError(t, err)
	names, of, _ := strings.Cut(only, ":")
	for _, s := range systems() {
		require.Equal(t, chosen(of, s.Name), strings.Contains(string(all), s.Name), s.Name) // with its row, or as left out
	}
	for _, s := range scenarios() {
		require.Equal(t, chosen(names, s.Name), strings.Contains(string(all), "### "+s.Title+"\n"), s.Name)
	}
}

// Durable timers are not lost and not early, at any scale, and no answer to a cancel is wrong.
func TestOurs(t *testing.T) {
	for _, s := range []system{durableDir(), durableServer(1)} {
		t.Run(s.Name, func(t *testing.T) {
			v := ran(t, s, func(ctx context.Context, r *rig) error { _, err := burst(200).Run(ctx, r, 0.01); return err })
			require.Zero(t, v.Lost+v.Early+v.Twice)
			require.Positive(t, v.Acked)
			for _, victim := range []string{"worker", "server"} {
				v := ran(t, s, func(ctx context.Context, r *rig) error { _, err := killing(victim).Run(ctx, r, 0.01); return err })
				require.Zero(t, v.Lost+v.Early, victim)
			}
			v = ran(t, s, func(ctx context.Context, r *rig) error { _, err := cancelling.Run(ctx, r, 0.01); return err })
			require.Zero(t, v.Lost+v.Early+v.Twice+v.Before)
			require.Positive(t, v.Acked)
		})
	}
}

// ran returns the verdict of the judge when run has run.
func ran(t *testing.T, s system, run func(ctx context.Context, r *rig) error) verdict {
	r, err := newRig(t.Context(), s)
	require.NoError(t, err)
	defer r.close()
	require.NoError(t, run(t.Context(), r))
	return r.judge.verdict()
}

func TestNothingChosen(t *testing.T) {
	var out bytes.Buffer
	for _, only := range []string{"no such scenario", ":no such system", "no such:"} {
		require.ErrorIs(t, run(t.Context(), options{only: only, scale: 1}, &out, &out), errNoneChosen)
	}
	require.Empty(t, out.String())
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, progress bytes.Buffer
	require.ErrorIs(t, run(ctx, options{scale: 1}, &out, &progress), context.Canceled)
	require.Empty(t, out.String())
}

// A system whose servers are not installed is left out, with a line that says so, and one that fails has a row.
func TestRows(t *testing.T) {
	r := report{scale: 0.5, left: []string{"x was left out: y is not installed."}, systems: []system{durableDir()}}
	r.sections = []section{{scenario: scheduling, rows: [][]string{append([]string{"durable in a directory"}, failed(len(scheduling.Head))...)}}}
	text := r.markdown()
	require.Contains(t, text, "with `-scale 0.5`")
	require.Contains(t, text, "x was left out: y is not installed.\n")
	require.Contains(t, text, "| durable in a directory | **failed** | – | – |")
	absent := program{func() string { return "" }, "a-package"}
	present := program{func() string { return "/bin/x" }, "another"}
	require.Equal(t, []string{"a-package"}, system{Needs: []program{present, absent}}.missing())
}

func TestChosen(t *testing.T) {
	require.True(t, chosen("", "anything"))
	require.True(t, chosen("late,kill", "kill-worker"))
	require.False(t, chosen("late,kill", "rest"))
}

func TestKeys(t *testing.T) {
	for _, i := range []uint32{0, 1, probes, warmUpFirst} {
		value := valueOf(keyOf(i))
		require.Len(t, value, valueSize)
		got, err := indexOf(keyIn(value))
		require.NoError(t, err)
		require.Equal(t, i, got)
	}
	_, err := indexOf("other")
	require.Error(t, err)
	require.Equal(t, "k1", keyIn([]byte("k1")))
}

// The whole report has tables of all scenarios and systems, and the page has what the command writes of them.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(wholeFile)
	require.NoError(t, err)
	tables := string(text)
	for _, s := range scenarios() {
		require.Contains(t, tables, "### "+s.Title+"\n")
	}
	for _, s := range systems() {
		require.Contains(t, tables, "| "+s.Name+" | "+s.Settings+" |\n")
	}
	page, err := os.ReadFile("../../../docs/durable-peers.md")
	require.NoError(t, err)
	_, got, _, err := figures.Between(string(page), begin, end)
	require.NoError(t, err)
	want, err := summary(tables)
	require.NoError(t, err)
	require.Equal(t, "\n"+want+"\n", got)
	for _, c := range columns() {
		require.Contains(t, got, " | "+c.head+" |")
	}
}
