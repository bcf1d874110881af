package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// line is what the tests look at of a timer.
type line struct {
	Name      string
	Key       *string
	ValueText *string `json:"value_text"`
	ID        string
	Due, Next time.Time
	Attempts  uint32
	State     string
	Uncertain bool
	Timers    *int
}

// salvaged runs the command.
func salvaged(t *testing.T, arguments ...string) (status int, timers map[string]line, said string) {
	var stdout, stderr bytes.Buffer
	status = run(arguments, &stdout, &stderr)
	return status, decode(t, stdout.Bytes()), stderr.String()
}

// decode is the lines by key.
func decode(t *testing.T, text []byte) map[string]line {
	timers := map[string]line{}
	for l := range bytes.Lines(text) {
		var one line
		require.NoError(t, json.Unmarshal(l, &one))
		if one.Timers != nil {
			require.Len(t, timers, *one.Timers)
			continue
		}
		require.NotContains(t, timers, *one.Key)
		timers[*one.Key] = one
	}
	return timers
}

const timers = 40

// directory is one with timers: 0 to 39, of which 1 was moved, 2 removed, 3 set
// anew, 4 is dead, 5 has failed once, and 6 has ended. It returns their values.
func directory(t *testing.T) (dir string, values map[string]string) {
	dir = t.TempDir()
	mock := clock.NewMock()
	w, err := durable.Open(t.Context(), durable.Config[string, string]{
		Dir: dir, Clock: mock, MaxAttempts: 2,
		Backoff: func(int) time.Duration { return time.Minute },
		Handle: func(_ context.Context, f durable.Firing[string, string]) error {
			if f.Key == "6" {
				return nil
			}
			return errors.New("no")
		}})
	require.NoError(t, err)
	ctx, values := t.Context(), map[string]string{}
	set := func(k int, v string, d time.Duration) {
		_, err := w.Set(ctx, fmt.Sprint(k), v, d)
		require.NoError(t, err)
		values[fmt.Sprint(k)] = v
	}
	for i := range timers {
		set(i, fmt.Sprintf("%d %s", i, strings.Repeat("v", 1000)), time.Hour)
	}
	_, _, err = w.Move(ctx, "1", 2*time.Hour)
	require.NoError(t, err)
	_, _, err = w.Remove(ctx, "2")
	require.NoError(t, err)
	set(3, "anew", 3*time.Hour)
	set(4, "dead", 0)
	set(6, "ended", 0)
	mock.Add(time.Minute)
	set(5, "failed", 0)
	mock.Add(0)
	delete(values, "2")
	delete(values, "6")
	require.NoError(t, w.Close())
	return dir, values
}

func TestNothingIsWrong(t *testing.T) {
	dir, values := directory(t)
	before := content(t, dir)
	status, found, said := salvaged(t, "-dir", dir)
	require.Equal(t, 0, status, said)
	require.Contains(t, said, "38 timers, and nothing is wrong")
	require.Len(t, found, len(values))
	for k, v := range values {
		require.Equal(t, v, *found[k].ValueText)
		require.Equal(t, "timers", found[k].Name)
		require.Len(t, found[k].ID, 32)
		require.False(t, found[k].Uncertain)
		require.Equal(t, k == "4", found[k].State == "dead")
	}
	require.Equal(t, time.Hour, found["1"].Due.Sub(found["0"].Due))
	require.Equal(t, 2*time.Hour, found["3"].Due.Sub(found["0"].Due))
	require.Equal(t, []uint32{2, 1, 0}, []uint32{found["4"].Attempts, found["5"].Attempts, found["7"].Attempts})
	require.Equal(t, time.Minute, found["5"].Due.Sub(found["4"].Due))
	require.Equal(t, time.Minute, found["5"].Next.Sub(found["5"].Due))
	require.Equal(t, before, content(t, dir))
}

// content is all that a directory has.
func content(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			all[name] = string(data)
		}
		return err
	}))
	return all
}

// Whatever file is damaged, and however: what is written without "uncertain" is true, and without
// a word of damage all is there.
func TestDamagedFiles(t *testing.T) {
	dir, values := directory(t)
	wrong := 0
	for file, data := range content(t, dir) {
		n := len(data)
		for what, now := range map[string]string{
			"emptied": "", "cut in half": data[:n/2], "cut by one": data[:max(0, n-1)],
			"first byte": flip(data, 0), "middle": flip(data, n/2), "later": flip(data, n*3/4), "last": flip(data, n-1),
		} {
			copied := t.TempDir()
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			require.NoError(t, os.WriteFile(filepath.Join(copied, file), []byte(now), 0o600))
			before := content(t, copied)
			status, found, said := salvaged(t, "-dir", copied)
			require.Equal(t, before, content(t, copied))
			require.NotEqual(t, 2, status, "%s %s: %s", file, what, said)
			if status == 0 {
				require.Len(t, found, len(values), "%s %s: %s", file, what, said)
			} else {
				wrong++
				require.Contains(t, said, "things are wrong")
			}
			for k, l := range found {
				require.True(t, l.Uncertain || *l.ValueText == values[k], "%s %s: %s", file, what, k)
			}
		}
	}
	require.GreaterOrEqual(t, wrong, 2)
}

func flip(s string, at int) string {
	if len(s) == 0 {
		return s
	}
	b := []byte(s)
	b[at] ^= 0x20
	return string(b)
}

// A frame in the middle is damaged. The timers that were set anew later are certain.
func TestWhereTheDamageIs(t *testing.T) {
	dir, values := directory(t)
	segment := filepath.Join(dir, "logs", "timers", "0000000000000001.seg")
	data, err := os.ReadFile(segment)
	require.NoError(t, err)
	at := bytes.Index(data, []byte("EpiF"))
	for range 8 { // frame 9
		at += 4 + bytes.Index(data[at+4:], []byte("EpiF"))
	}
	data[at+100] ^= 1
	require.NoError(t, os.WriteFile(segment, data, 0o600))
	status, found, said := salvaged(t, "-dir", dir)
	require.Equal(t, 1, status)
	require.Contains(t, said, fmt.Sprintf("timers: frame 9 is missing (0000000000000001.seg, byte %d: the frame is damaged", at))
	require.Contains(t, said, "1 things are wrong")
	require.Len(t, found, len(values)-1)
	uncertain := 0
	for k, l := range found {
		require.Equal(t, values[k], *l.ValueText)
		if l.Uncertain {
			uncertain++
			require.NotContains(t, "345", k)
		}
	}
	require.Positive(t, uncertain)
	require.LessOrEqual(t, uncertain, 7, "frames 2 to 8 set one timer each")
}

func TestUsage(t *testing.T) {
	dir, values := directory(t)
	for problem, arguments := range map[string][]string{
		"either -dir or files":             {},
		"there must be either":             {"-dir", dir, "x"},
		"flag provided but not defined":    {"-x"},
		"no such file or directory":        {"-dir", filepath.Join(dir, "none")},
		"has no logs of durable timers":    {"-dir", t.TempDir()},
		`of that name: "x". It has timers`: {"-dir", dir, "-name", "x"},
		"exists":                           {"-dir", dir, "-out", filepath.Join(dir, "version")},
	} {
		status, found, said := salvaged(t, arguments...)
		require.Equal(t, 2, status)
		if problem != "no such file or directory" || os.PathSeparator == '/' {
			require.Contains(t, said, problem)
		}
		require.Empty(t, found)
	}
	status, _, said := salvaged(t, "-h")
	require.Equal(t, 0, status)
	require.Contains(t, said, "-dir directory")
	out := filepath.Join(t.TempDir(), "out")
	status, found, _ := salvaged(t, "-dir", dir, "-name", "timers", "-out", out)
	require.Equal(t, 0, status)
	require.Empty(t, found)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Len(t, decode(t, text), len(values))
}

func TestDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: dir, Clock: clock.NewMock(),
		Handle: func(context.Context, durable.Firing[string, string]) error { return nil }})
	require.NoError(t, err)
	defer w.Close()
	status, _, said := salvaged(t, "-dir", dir)
	if os.PathSeparator == '\\' {
		t.Skip("there is no telling on Windows")
	}
	require.Equal(t, 2, status)
	require.Contains(t, said, "in use by another process")
}

// Keyed.Import reads the lines.
func TestImport(t *testing.T) {
	dir, values := directory(t)
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{"-dir", dir}, &stdout, &stderr))
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: t.TempDir(), Clock: clock.NewMock(),
		Handle: func(context.Context, durable.Firing[string, string]) error { return nil }})
	require.NoError(t, err)
	defer w.Close()
	found := decode(t, stdout.Bytes())
	n, err := w.Import(t.Context(), &stdout)
	require.NoError(t, err)
	require.Equal(t, len(values), n)
	for k, v := range values {
		e, ok, err := w.Lookup(t.Context(), k)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, v, e.Value)
		require.Equal(t, found[k].ID, e.ID.String())
		require.Equal(t, int(found[k].Attempts), e.Attempt)
		require.Equal(t, k == "4", e.State == durable.StateDead)
	}
}
