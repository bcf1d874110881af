package view_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	durableview "github.com/epicycle-go/epicycle/hierarchy/durable/view"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

func newTimers(t *testing.T, mock *clock.Mock) *durable.Keyed[string, string] {
	return openTimers(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock})
}

func openTimers(t *testing.T, cfg durable.Config[string, string]) *durable.Keyed[string, string] {
	cfg.MaxAttempts = 1
	cfg.Handle = func(_ context.Context, f durable.Firing[string, string]) error {
		if f.Value == "bad" {
			return errors.New("bad")
		}
		return nil
	}
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

// answer is what a page's JSON has.
type answer struct {
	Pending, Fired, Scheduled, Stopped, Moved int
	Elapsed                                   time.Duration `json:"elapsed_ns"`
	Lateness                                  struct{ Count int }
	Circles                                   []struct{ Timers int }
	Logs                                      []struct {
		Pending, Dead, Failed, Frames, Bytes int
		Disk                                 int `json:"disk_bytes"`
		Live                                 int `json:"live_bytes"`
		Commit                               struct {
			Count int
			Max   time.Duration `json:"max_ns"`
		}
	}
}

func get(t *testing.T, h http.Handler, path string) string {
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
	require.Equal(t, http.StatusOK, r.Code)
	return r.Body.String()
}

// The figures are those of the timers and of their logs.
func TestFigures(t *testing.T) {
	mock := clock.NewMock()
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	w := openTimers(t, durable.Config[string, string]{Conn: s.Conn(), Partitions: 2, Lease: time.Minute, Clock: mock})
	for i := range 100 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "v", time.Hour)))
	}
	require.NoError(t, errOf(w.Set(t.Context(), "soon", "v", time.Second)))
	require.NoError(t, errOf(w.Set(t.Context(), "fails", "bad", time.Second)))
	_, _, err = w.Remove(t.Context(), "1")
	require.NoError(t, err)
	_, _, err = w.Move(t.Context(), "2", 2*time.Hour)
	require.NoError(t, err)
	mock.Add(time.Minute)
	var a answer
	h := durableview.Handler(w, view.Title("orders"))
	require.NoError(t, json.Unmarshal([]byte(get(t, h, "/json")), &a))
	require.Equal(t, []int{99, 2, 102, 1, 1, 2}, []int{a.Pending, a.Fired, a.Scheduled, a.Stopped, a.Moved, a.Lateness.Count})
	require.Equal(t, time.Minute, a.Elapsed)
	on := 0
	for _, c := range a.Circles {
		on += c.Timers
	}
	require.Equal(t, 99, on)
	require.Len(t, a.Logs, 2)
	one, two := a.Logs[0], a.Logs[1]
	require.Equal(t, []int{99, 1, 1}, []int{one.Pending + two.Pending, one.Dead + two.Dead, one.Failed + two.Failed})
	for _, l := range a.Logs {
		require.Positive(t, l.Pending)
		require.Positive(t, l.Bytes)
		require.Positive(t, l.Disk)
		require.Positive(t, l.Live)
		require.Equal(t, l.Frames, l.Commit.Count)
		require.Positive(t, l.Commit.Max)
	}
	page := get(t, h, "/")
	require.Contains(t, page, "orders")
	require.Contains(t, page, `<table id="logs" `)
}

// fixed is timers with certain figures.
type fixed struct {
	Timers
	stats durable.Stats
}

// Timers are those of package view.
type Timers = durableview.Timers

func (f fixed) Stats() durable.Stats { return f.stats }

// The page says who owns what.
func TestMembers(t *testing.T) {
	timers := fixed{stats: durable.Stats{
		Partitions: []durable.PartitionStats{{Owner: "one"}, {}},
		Members:    []durable.MemberStats{{Text: "one", Self: true, Owned: 1}, {Text: "two", Leaving: true}},
	}}
	s := durableview.Source(timers)
	require.Equal(t, []view.Member{{Text: "one", Partitions: 1, Self: true}, {Text: "two", Leaving: true}}, s.Members())
	require.Equal(t, "one", s.Logs()[0].Owner)
	require.Empty(t, s.Logs()[1].Owner)
	w := newTimers(t, clock.NewMock())
	require.Empty(t, durableview.Source(w).Members())
}

func TestNil(t *testing.T) {
	require.PanicsWithValue(t, "view: Source was given nil instead of timers", func() { durableview.Source(nil) })
	var w *durable.Keyed[int, int]
	require.Panics(t, func() { durableview.Handler(w) })
}

// The page of durable timers, and one that lists them beside a wheel.
func Example() {
	dir, err := os.MkdirTemp("", "timers")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	timers, err := durable.Open(context.Background(), durable.Config[string, string]{
		Dir:    dir,
		Clock:  clock.NewMock(), // not outside of tests
		Handle: func(context.Context, durable.Firing[string, string]) error { return nil },
	})
	if err != nil {
		panic(err)
	}
	defer timers.Close()
	mux := http.NewServeMux()
	mux.Handle("/debug/timers/", durableview.Handler(timers, view.Title("orders")))
	mux.Handle("/debug/wheels/", view.Index(map[string]view.Source{"orders": durableview.Source(timers)}))
	server := httptest.NewServer(mux) // in production http.ListenAndServe("localhost:6060", mux)
	defer server.Close()
	for _, path := range []string{"/debug/timers/", "/debug/wheels/?wheel=orders"} {
		r, err := http.Get(server.URL + path)
		if err != nil {
			panic(err)
		}
		r.Body.Close()
		fmt.Println(r.Status)
	}
	// Output:
	// 200 OK
	// 200 OK
}

// errOf is the error of a call that returns something else, too.
func errOf[T any](_ T, err error) error { return err }
