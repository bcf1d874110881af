package durable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// exported returns the lines of an Export, sorted.
func exported(t *testing.T, w *strs) []string {
	var b bytes.Buffer
	require.NoError(t, w.Export(t.Context(), &b))
	all := slices.Collect(strings.Lines(b.String()))
	slices.Sort(all)
	return all
}

// withAllKinds opens timers of all kinds: those that wait, have failed, are dead, and have schedules.
func withAllKinds(t *testing.T, cfg durable.Config[string, string]) *strs {
	w, ctx := open(t, cfg), t.Context()
	mock := cfg.Clock.(*clock.Mock)
	for i, v := range []string{"", "text", "null", "42", `{"a":1}`, `{"a": 1}`, "\"\u2028<\"", "\xff", `"\ud800"`, "\"\xff\"", "\n", "0"} {
		require.NoError(t, errOf(w.Set(ctx, fmt.Sprint("value", i), v, time.Hour)))
	}
	require.NoError(t, errOf(w.Set(ctx, "\xff\x00", "key", time.Hour)))
	require.NoError(t, errOf(w.SetAt(ctx, "wall", "", mock.Now().Add(2*time.Hour))))
	require.NoError(t, errOf(w.SetAt(ctx, "far", "", time.Date(2262, 2, 1, 0, 0, 0, 7, time.UTC))))
	require.NoError(t, errOf(w.SetSchedule(ctx, "schedule", "v", parse(t, "@every 90m").OnMissed(durable.MissedAll))))
	require.NoError(t, errOf(w.SetDebounced(ctx, "debounced", "v", time.Hour, 2*time.Hour)))
	require.NoError(t, errOf(w.Set(ctx, "dies", "v", 0)))
	mock.Add(time.Second)
	require.NoError(t, errOf(w.Set(ctx, "fails", "v", 0)))
	mock.Add(time.Second)
	mock.Add(time.Minute)
	require.NoError(t, errOf(w.Set(ctx, "failed", "v", 0)))
	mock.Add(0)
	return w
}

func exportConfig(t *testing.T, mock *clock.Mock, partitions int) durable.Config[string, string] {
	return durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, MaxAttempts: 2,
		Backoff: func(int) time.Duration { return 30 * time.Second },
		Handle:  func(context.Context, firing) error { return errors.New("no \xff") }}
}

// What is exported comes back, through other numbers of partitions, with IDs, attempts and schedules, and fires.
func TestExportAndImport(t *testing.T) {
	mock := clock.NewMock()
	want := exported(t, withAllKinds(t, exportConfig(t, mock, 3)))
	require.Len(t, want, 21)
	require.Equal(t, "{\"timers\":20}\n", want[20])
	require.Contains(t, strings.Join(want, ""), `"debounced_since":"1970-01-01T00:00:00Z"`)
	require.Equal(t, 2, strings.Count(strings.Join(want, ""), `"state":"dead"`))
	require.Contains(t, strings.Join(want, ""), `"last_error":"no `+"\ufffd"+`","last_error_at":"1970-01-01T00:01:02Z"`)
	require.Contains(t, strings.Join(want, ""), `"value":{"a":1}`)
	require.Contains(t, strings.Join(want, ""), `"value_text":"{\"a\": 1}"`)
	for n := 1; n <= 16; n++ {
		cfg := exportConfig(t, mock, n)
		w := open(t, cfg)
		for range 2 { // what is there is replaced
			got, err := w.Import(t.Context(), strings.NewReader(strings.Join(want, "")))
			require.NoError(t, err)
			require.Equal(t, len(want)-1, got)
			require.Equal(t, want, exported(t, w))
		}
		require.NoError(t, w.Close())
		w = open(t, cfg) // it is in the log
		require.Equal(t, want, exported(t, w))
		require.NoError(t, w.Shutdown(t.Context()))
	}
	cfg, fired := exportConfig(t, mock, 2), map[string]int{}
	cfg.Handle = func(_ context.Context, f firing) error {
		fired[f.Key] = f.Attempt
		require.Contains(t, strings.Join(want, ""), f.ID.String())
		return nil
	}
	w := open(t, cfg)
	_, err := w.Import(t.Context(), strings.NewReader(strings.Join(want, "")))
	require.NoError(t, err)
	mock.Add(time.Minute)
	require.Equal(t, map[string]int{"failed": 2}, fired)
	mock.Add(time.Hour)
	require.Equal(t, 1, fired["value0"])
	n, err := w.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, n) // wall, far, schedule
	require.Equal(t, 2, w.Stats().Dead)
}

// A timer that runs is exported with the attempts that the log has, and is due again at once. An import ends an attempt
// of its key.
func TestExportOfARunningTimer(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir()}
	running := make(chan durable.ID, 2)
	cfg.Handle = func(ctx context.Context, f firing) error {
		running <- f.ID
		<-ctx.Done()
		return nil
	}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", 0)))
	id := <-running
	lines := exported(t, w)
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"state":"running"`)
	n, err := w.Import(t.Context(), strings.NewReader(lines[0]+lines[1]))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, id, <-running)
}

// The error for a bad line says which, the lines before it are imported, and what is there stays.
func TestImportOfBadLines(t *testing.T) {
	mock := clock.NewMock()
	w := open(t, exportConfig(t, mock, 2))
	require.NoError(t, errOf(w.Set(t.Context(), "k", "there", time.Hour)))
	there := exported(t, w)
	good := strings.Replace(there[0], `"k"`, `"good"`, 1)
	zero := regexp.MustCompile(`"id":"[0-9a-f]+"`)
	for bad, want := range map[string]error{
		"{":  durable.ErrArgument,
		"{}": durable.ErrArgument,
		strings.Replace(there[0], `"value_text":"there",`, "", 1):                  durable.ErrArgument,
		strings.Replace(there[0], `"value_text"`, `"value":1,"value_text"`, 1):     durable.ErrArgument,
		strings.Replace(there[0], `"waiting"`, `"asleep"`, 1):                      durable.ErrArgument,
		strings.Replace(there[0], `"waiting"`, `"waiting","schedule":"@never"`, 1): durable.ErrArgument,
		strings.Replace(there[0], `"id":"`, `"id":"x`, 1):                          durable.ErrArgument,
		strings.Replace(there[0], `there"`, "\xff\"", 1):                           durable.ErrArgument,
		zero.ReplaceAllString(there[0], `"id":"00000000000000000000000000000000"`): durable.ErrArgument,
		strings.Replace(there[0], `"state"`, `"attempts":2147483648,"state"`, 1):   durable.ErrArgument,
		strings.Replace(there[0], `"state"`, `"missed":4294967295,"state"`, 1):     durable.ErrArgument,
		strings.Replace(there[0], `"state"`, `"timers":1,"state"`, 1):              durable.ErrArgument,
		`{"timers":2}`:  durable.ErrIncomplete,
		`{"timers":-1}`: durable.ErrIncomplete,
		strings.Replace(there[0], `"k"`, `"`+strings.Repeat("k", 1025)+`"`, 1): durable.ErrTooLarge,
		strings.Replace(there[0], `there"`, strings.Repeat("v", 1<<20)+`"`, 1): durable.ErrTooLarge,
	} {
		n, err := w.Import(t.Context(), strings.NewReader(good+"\n"+bad))
		require.ErrorIs(t, err, want, bad)
		requireOurs(t, err)
		require.Contains(t, err.Error(), "durable: line 3: ")
		require.Equal(t, 1, n)
		all := exported(t, w)
		require.Len(t, all, 3)
		require.Contains(t, all, there[0])
	}
}

// An export that was cut short is imported as far as it goes, and the error says that it was. Exports may follow each
// other.
func TestImportOfAPart(t *testing.T) {
	mock := clock.NewMock()
	all := exported(t, withAllKinds(t, exportConfig(t, mock, 2)))
	for lines := range len(all) {
		to := open(t, exportConfig(t, mock, 3))
		n, err := to.Import(t.Context(), strings.NewReader(strings.Join(all[:lines], "")))
		requireOurs(t, err, durable.ErrIncomplete)
		require.Equal(t, lines, n)
		require.Len(t, exported(t, to), lines+1)
		n, err = to.Import(t.Context(), strings.NewReader(strings.Join(all, "")))
		require.NoError(t, err)
		require.Equal(t, len(all)-1, n)
		require.Equal(t, all, exported(t, to))
		require.NoError(t, to.Close())
	}
	to, whole := open(t, exportConfig(t, mock, 1)), strings.Join(all, "")
	n, err := to.Import(t.Context(), strings.NewReader(whole+"\n"+whole))
	require.NoError(t, err)
	require.Equal(t, 2*(len(all)-1), n)
	n, err = to.Import(t.Context(), strings.NewReader(whole+all[0]))
	requireOurs(t, err, durable.ErrIncomplete)
	require.Equal(t, len(all), n)
	n, err = to.Import(t.Context(), strings.NewReader(strings.Join(all[1:], ""))) // one is missing in the middle
	requireOurs(t, err, durable.ErrIncomplete)
	require.ErrorContains(t, err, "line 20: the lines are not complete: there should be 20 timers, and are 19")
	require.Equal(t, len(all)-2, n)
}

// Whatever times and counts a line has: its timer fires once, with the numbers that it should have.
func TestImportOfExtremes(t *testing.T) {
	mock := clock.NewMock()
	cfg, fired := exportConfig(t, mock, 1), map[string]int{}
	cfg.MaxAttempts, cfg.KeepDead = -1, time.Hour
	cfg.Handle = func(_ context.Context, f firing) error {
		fired[f.Key] = f.Attempt
		if fired[f.Key+" again"]++; fired[f.Key+" again"] == 1 {
			return errors.New("once more")
		}
		return nil
	}
	w := open(t, cfg)
	line := `{"key":"%s","value":1,"id":"%032x","due":"%s","state":"%s"%s}` + "\n"
	in := fmt.Sprintf(line, "early", 1, "1677-09-21T00:12:43.145224192Z", "waiting", "") +
		fmt.Sprintf(line, "late", 2, "2262-04-11T23:47:16.854775807Z", "waiting", "") +
		fmt.Sprintf(line, "often", 3, "1970-01-01T00:00:00Z", "waiting", `,"attempts":2147483647`) +
		fmt.Sprintf(line, "next", 4, "1970-01-01T00:00:00Z", "waiting", `,"attempts":1,"next":"1677-09-21T00:12:43.145224192Z"`) +
		fmt.Sprintf(line, "far", 5, "1677-09-21T00:12:43.145224192Z", "waiting", `,"attempts":1,"next":"2262-04-11T23:47:16.854775807Z"`) +
		fmt.Sprintf(line, "long dead", 6, "1970-01-01T00:00:00Z", "dead", `,"attempts":1,"last_error_at":"1677-09-21T00:12:43.145224192Z"`) +
		fmt.Sprintf(line, "dead later", 7, "1970-01-01T00:00:00Z", "dead", `,"attempts":1,"last_error_at":"2262-04-11T23:47:16.854775807Z"`)
	n, err := w.Import(t.Context(), strings.NewReader(in+`{"timers":7}`))
	require.NoError(t, err)
	require.Equal(t, 7, n)
	mock.Add(0)
	require.Equal(t, map[string]int{"early": 1, "early again": 1, "often": 2147483647, "often again": 1, "next": 2, "next again": 1}, fired)
	mock.Add(time.Minute)
	require.Equal(t, map[string]int{"early": 2, "early again": 2, "often": 2147483647, "often again": 2, "next": 3, "next again": 2}, fired)
	n, err = w.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n) // late and far
	require.Equal(t, 1, w.Stats().Dead)
}

// More than one batch.
func TestImportOfMany(t *testing.T) {
	mock := clock.NewMock()
	w := open(t, exportConfig(t, mock, 3))
	var b durable.Batch[string, string]
	for i := range 3000 {
		b.Set(fmt.Sprint(i), strings.Repeat("v", i%200), time.Hour)
		if b.Len() == 1500 {
			require.NoError(t, w.Batch(t.Context(), &b))
			b.Reset()
		}
	}
	want := exported(t, w)
	to := open(t, exportConfig(t, mock, 1))
	n, err := to.Import(t.Context(), strings.NewReader(strings.Join(want, "")))
	require.NoError(t, err)
	require.Equal(t, 3000, n)
	require.Equal(t, want, exported(t, to))
}

// changer changes the timers whenever something is written.
type changer struct {
	bytes.Buffer
	change func()
}

func (c *changer) Write(b []byte) (int, error) {
	c.change()
	return c.Buffer.Write(b)
}

// Timers that are set, moved, removed and fire meanwhile are exported as they were.
func TestExportOfOneMoment(t *testing.T) {
	mock := clock.NewMock()
	cfg := exportConfig(t, mock, 1)
	cfg.Handle = func(_ context.Context, f firing) error { return nil }
	w := open(t, cfg)
	var b durable.Batch[string, string]
	for i := range 1500 {
		b.Set(fmt.Sprint(i), strings.Repeat("v", 100), time.Duration(i)*time.Second)
	}
	require.NoError(t, w.Batch(t.Context(), &b))
	mock.Add(0)
	want, i := exported(t, w), 0
	out := changer{change: func() {
		i++
		k := fmt.Sprint(1499 - i)
		switch i % 4 {
		case 0:
			require.NoError(t, errOf(w.Set(t.Context(), k, "other", time.Hour)))
			require.NoError(t, errOf(w.Set(t.Context(), "new"+k, "other", time.Hour)))
		case 1:
			_, _, err := w.Move(t.Context(), k, time.Hour)
			require.NoError(t, err)
		case 2:
			_, _, err := w.Remove(t.Context(), k)
			require.NoError(t, err)
		case 3:
			mock.Add(100 * time.Second)
		}
	}}
	require.NoError(t, w.Export(t.Context(), &out))
	got := slices.Collect(strings.Lines(out.String()))
	slices.Sort(got)
	require.Greater(t, i, 20)
	require.Equal(t, want, got)
	require.NotEqual(t, want, exported(t, w))
}

// To servers, by a caller, and back.
func TestExportToServersAndBack(t *testing.T) {
	urls, _ := natsServers(t, 1)
	want := exported(t, withAllKinds(t, exportConfig(t, clock.NewMock(), 2)))
	for i := range want { // nothing is due while the clock goes
		want[i] = strings.ReplaceAll(strings.ReplaceAll(want[i], `"due":"1970`, `"due":"2200`), `"next":"1970`, `"next":"2200`)
	}
	owner, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: connect(t, urls), Handle: new(record).handle})
	require.NoError(t, err)
	defer owner.Close()
	w := caller(t, urls)
	n, err := w.Import(t.Context(), strings.NewReader(strings.Join(want, "")))
	require.NoError(t, err)
	require.Equal(t, len(want)-1, n)
	slices.Sort(want)
	require.Equal(t, want, exported(t, w))
	require.Equal(t, want, exported(t, owner))
}

// ExportPrefix writes the lines that Export writes for these keys, in the order of the keys.
func TestExportPrefix(t *testing.T) {
	w := withAllKinds(t, exportConfig(t, clock.NewMock(), 3))
	for prefix, n := range map[string]int{"value": 12, "value1": 3, "fail": 2, "dies": 1, "none": 0, "": 20} {
		var b bytes.Buffer
		require.NoError(t, w.ExportPrefix(t.Context(), &b, prefix))
		lines := slices.Collect(strings.Lines(b.String()))
		require.Len(t, lines, n+1, prefix)
		require.Equal(t, fmt.Sprintf("{\"timers\":%d}\n", n), lines[n])
		lines = lines[:n]
		for _, line := range lines {
			require.Contains(t, exported(t, w), line)
		}
		require.True(t, prefix == "" || slices.IsSortedFunc(lines, func(a, b string) int {
			return strings.Compare(strings.Split(a, ",")[0], strings.Split(b, ",")[0])
		}))
	}
}
