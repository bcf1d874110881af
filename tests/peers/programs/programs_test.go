package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/tests/long"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// The test binary is a program and a client, too.
func TestMain(m *testing.M) {
	runIfChild()
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) // go-zero starts goroutines when it is imported
}

// Each program does its work in each way, and all that is said to be measured is measured. The figures mean nothing.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page, []byte("before\n"+begin+end+"after\n"), 0o600))
	o := options{page: page}.quick()
	all := slices.DeleteFunc(programs(), func(p program) bool {
		return p.module != "" && !long.On() // its copy is built, as by -quick, which is a step of its own
	})
	r, err := measure(t.Context(), all, o, io.Discard)
	require.NoError(t, err)
	require.Len(t, r.programs, len(all))
	for _, m := range r.programs {
		for i, w := range m.ways {
			requireMeasured(t, m, m.of[i], m.name+", "+w.name)
		}
		require.GreaterOrEqual(t, m.recommended(), 0, m.name)
	}
	require.NoError(t, r.replaceIn(page))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "before\n"+begin), "the beginning stays")
	require.True(t, strings.HasSuffix(string(text), end+"after\n"), "the end stays")
}

func requireMeasured(t *testing.T, m measured, f result, who string) {
	require.Positive(t, f.N, who)
	require.Positive(t, f.Work, who)
	require.Positive(t, f.Took, who)
	require.Positive(t, f.CPU, who)
	require.Equal(t, m.each != "", f.Bytes > 0, who)
	require.Equal(t, m.late != "", f.Late > 0, who)
	require.Less(t, f.Late, 10*time.Second, who)
	if m.work != nil {
		require.Equal(t, m.work(size{f.N, m.size.Rounds, m.size.Lifetime}), f.Work, who)
	}
}

// Programs, and the ways of each, have names of their own, and full sizes are larger than quick ones.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range programs() {
		require.False(t, seen[p.name], p.name)
		seen[p.name] = true
		for _, w := range p.ways {
			require.False(t, seen[p.name+"/"+w.name], w.name)
			seen[p.name+"/"+w.name] = true
		}
		require.Greater(t, p.full.N, p.quick.N, p.name)
		require.Equal(t, 1, strings.Count(p.what, "%s"), p.name)
	}
}

func TestChosen(t *testing.T) {
	all, err := chosen("")
	require.NoError(t, err)
	require.Len(t, all, len(programs()))
	one, err := chosen("tcp")
	require.NoError(t, err)
	require.Len(t, one, 1)
	_, err = chosen("tcp,nothing")
	require.ErrorIs(t, err, errUnknown)
	require.ErrorIs(t, run(context.Background(), options{only: "nothing"}, io.Discard, io.Discard), errUnknown)
}

// A process that fails says why.
func TestFailure(t *testing.T) {
	_, err := task{Program: "tcp", Way: "nothing"}.do(t.Context())
	require.ErrorContains(t, err, errNoWay.Error())
	a, err := new(user).do(request{Do: "nothing"})
	require.ErrorIs(t, err, errNothingToDo)
	require.Zero(t, a)
	var answers bytes.Buffer
	require.NoError(t, serveClient(strings.NewReader(`{"Do":"nothing"}`), &answers))
	require.Contains(t, answers.String(), errNothingToDo.Error())
}

// What happens twice, too early or not at all is no result.
func TestLateness(t *testing.T) {
	var f result
	l := newLateness(2)
	l.add(time.Second)
	l.add(time.Minute)
	require.NoError(t, l.wait(t.Context(), &f))
	require.Equal(t, time.Minute, f.Late)
	require.Panics(t, func() { l.add(1) })

	l = newLateness(1)
	l.add(-1)
	require.ErrorIs(t, l.wait(t.Context(), &f), errEarly)

	l = newLateness(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.wait(ctx, &f), errMissing)
	l.add(1) // the goroutine that waits ends
}

// Losses are said first, and only those.
func TestLosses(t *testing.T) {
	m := measured{
		program: program{name: "p", what: "%s of them", unit: "call", each: "thing", ways: []way{{name: "a"}, {name: "b"}, {name: "ours", ours: true}}},
		of: []result{
			{N: 5, Work: 10, Took: time.Second, CPU: time.Second, Bytes: 100},
			{N: 5, Work: 10, Took: time.Second, CPU: 2 * time.Second, Bytes: 50},
			{N: 5, Work: 20, Took: time.Second, CPU: 2 * time.Second, Bytes: 70},
		},
	}
	text := report{programs: []measured{m}}.markdown()
	require.Contains(t, text, ":\n\n- **p**, bytes: 50 with b, 70 with ours\n\n|")
	require.Contains(t, text, "| **p**: 5 of them | a | 10 | 100 ms | 100 | – | – |\n|  | b | 10 | 200 ms | 50 | – | – |\n|  | **ours** | 20 |")
	m.of[1].Bytes = 69
	require.Contains(t, report{programs: []measured{m}}.markdown(), "No other way was better")
}

// The page has the table of this command, with all its programs.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/programs.md")
	require.NoError(t, err)
	_, text, _, err := figures.Between(string(page), begin, end)
	require.NoError(t, err)
	for _, p := range programs() {
		require.Contains(t, text, "\n| **"+p.name+"**: ", p.name)
		for _, w := range p.ways {
			require.Contains(t, text, "| "+w.label()+" |", p.name)
		}
	}
}
