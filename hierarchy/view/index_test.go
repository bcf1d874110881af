package view

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

func listed(t testing.TB, h http.Handler) (names []string, o map[string]any) {
	t.Helper()
	o = object(t, body(t, get(t, h, http.MethodGet, "/json")))
	for _, w := range o["wheels"].([]any) {
		names = append(names, w.(map[string]any)["name"].(string))
	}
	return names, o
}

// The list is in the order of names. The package comment promises the names of the fields.
func TestIndexListsWheels(t *testing.T) {
	w, m := newWheel(t)
	other, _ := newWheel(t)
	for range 3 {
		_, err := w.AfterFunc(time.Second, func() {})
		require.NoError(t, err)
	}
	_, err := w.AfterFunc(time.Hour, func() {})
	require.NoError(t, err)
	m.Add(time.Minute)
	names, o := listed(t, Index(map[string]Source{"b": w, "c": other, "a": other, oddName: other}))
	require.Equal(t, []string{"a", oddName, "b", "c"}, names)
	require.Equal(t, []string{"taken_ns", "time", "wheels"}, fields(o))
	b := o["wheels"].([]any)[2].(map[string]any)
	require.Equal(t, []string{
		"cascaded", "closed", "drained", "dropped", "fired", "lateness", "moved", "name", "panics", "pending", "queued",
		"recent_lateness", "recent_waited", "running", "scheduled", "skipped", "stopped", "waited", "wakeups",
	}, fields(b))
	require.Equal(t, []string{
		"count", "max_ns", "mean_ns", "p50_ns", "p90_ns", "p999_ns", "p99_ns",
	}, fields(b["lateness"]))
	require.Equal(t, []string{
		"count", "max_ns", "p50_ns", "p90_ns", "p999_ns", "p99_ns", "span_ns",
	}, fields(b["recent_lateness"]))
	require.Equal(t, json.Number("1"), b["pending"])
	require.Equal(t, json.Number("3"), b["fired"])
}

// The page and figures of each wheel are at the paths of the index, with ?wheel=name, under
// any path.
func TestWheelOfAnIndex(t *testing.T) {
	w, _ := newWheel(t)
	other, _ := newWheel(t)
	_, err := w.AfterFunc(time.Hour, func() {})
	require.NoError(t, err)
	for name, h := range mounts(Index(map[string]Source{oddName: w, "json": other, "events": other, "b": other})) {
		t.Run(name, func(t *testing.T) {
			for wheel, pending := range map[string]string{oddName: "1", "json": "0", "events": "0", "b": "0"} {
				o := object(t, body(t, get(t, h, http.MethodGet, "/a/b/json"+queryFor(wheel))))
				require.Equal(t, json.Number(pending), o["pending"])
				require.Contains(t, o, "circles")
				require.Equal(t, http.StatusOK, get(t, h, http.MethodHead, "/a/b/events"+queryFor(wheel)).StatusCode)
				require.Contains(t, body(t, get(t, h, http.MethodGet, "/a/b/"+queryFor(wheel))), `href="./"`)
			}
			names, _ := listed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, request(http.MethodGet, "/a/b"+r.URL.Path, nil))
			}))
			require.Len(t, names, 4)
			for _, path := range []string{"/a/b/", "/a/b/json", "/a/b/events"} {
				for _, wheel := range []string{"none", "", "B"} {
					r := get(t, h, http.MethodGet, path+queryFor(wheel))
					require.Equal(t, http.StatusNotFound, r.StatusCode)
					require.Contains(t, body(t, r), "view: there is no wheel ")
				}
			}
		})
	}
}

// The links of an index lead to the pages of its wheels.
func TestLinksOfAnIndex(t *testing.T) {
	w, _ := newWheel(t)
	text := body(t, get(t, Index(map[string]Source{"b": w, oddName: w}), http.MethodGet, "/"))
	require.Contains(t, text, `<li><a href="?wheel=b">b</a></li>`)
	query, err := url.ParseQuery(queryFor(oddName)[1:])
	require.NoError(t, err)
	require.Equal(t, oddName, query.Get("wheel"))
	require.Contains(t, text, `<li><a href="`+queryFor(oddName)+`">`)
}

// Without its last slash, the path of an index redirects to the index, or to its wheel.
func TestIndexWithoutSlash(t *testing.T) {
	w, _ := newWheel(t)
	mux := http.NewServeMux()
	mux.Handle("/wheels/", Index(map[string]Source{"a": w}))
	server := httptest.NewServer(mux)
	defer server.Close()
	r, err := server.Client().Get(server.URL + "/wheels?wheel=a")
	require.NoError(t, err)
	defer r.Body.Close()
	require.Contains(t, body(t, r), "<h1>a</h1>")
}

// An index sends its list as events, and reads no wheel while no request is answered.
func TestEventsOfAnIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWheel(t)
		a, b := &countingSource{Source: w}, &countingSource{Source: w}
		h := Index(map[string]Source{"a": a, "b": b})
		time.Sleep(time.Hour)
		require.Zero(t, a.calls.Load())
		rec := watch(t, h, "/events?every=1s", 2500*time.Millisecond)
		require.Contains(t, rec.Body.String(), `"wheels":[{"name":"a",`)
		require.EqualValues(t, 3, a.calls.Load())
		require.EqualValues(t, 3, b.calls.Load())
		watch(t, h, "/events?wheel=a", 2500*time.Millisecond)
		require.EqualValues(t, 6, a.calls.Load())
		time.Sleep(time.Hour)
		require.EqualValues(t, 6, a.calls.Load())
		require.EqualValues(t, 3, b.calls.Load())
	})
}

// The list and the pages of the wheels share the samples of the last minute.
func TestIndexAndItsPagesShareSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLateWheel(t)
		h := Index(map[string]Source{"a": w})
		get(t, h, http.MethodGet, "/json")
		time.Sleep(10 * time.Second)
		w.fire(1000)
		o := object(t, body(t, get(t, h, http.MethodGet, "/json?wheel=a")))
		recent := o["recent_lateness"].(map[string]any)
		require.Equal(t, json.Number("10000000000"), recent["span_ns"])
		require.Equal(t, json.Number("1"), recent["count"])
	})
}

// An index answers to the same hosts and methods as a Handler.
func TestIndexIsGuarded(t *testing.T) {
	w, _ := newWheel(t)
	h := Index(map[string]Source{"a": w}, Hosts("wheels.example.com"))
	for _, path := range []string{"/", "/json", "/?wheel=a", "/json?wheel=a", "/events?wheel=a"} {
		for _, host := range refusedByDefault {
			require.Equal(t, http.StatusForbidden, getFromHost(t, h, host, path).StatusCode, "%q", host)
		}
		require.Equal(t, http.StatusMethodNotAllowed, get(t, h, http.MethodPost, path).StatusCode)
	}
	require.Equal(t, http.StatusOK, getFromHost(t, h, "wheels.example.com", "/json?wheel=a").StatusCode)
}

func TestIndexOfNothing(t *testing.T) {
	h := Index(nil)
	require.Equal(t, http.StatusOK, get(t, h, http.MethodGet, "/").StatusCode)
	require.Contains(t, body(t, get(t, h, http.MethodGet, "/json")), `"wheels":[]`)
	require.Equal(t, http.StatusNotFound, get(t, h, http.MethodGet, "/?wheel=a").StatusCode)

	w, _ := newWheel(t)
	var none *hierarchy.Wheel
	message := "view: Index was given nil instead of a wheel"
	require.PanicsWithValue(t, message, func() { Index(map[string]Source{"a": w, "b": nil}) })
	require.PanicsWithValue(t, message, func() { Index(map[string]Source{"b": none}) })
	require.PanicsWithValue(t, "view: Index was given a wheel without a name", func() { Index(map[string]Source{"": w}) })
}

// An index does not change when the map is changed afterwards.
func TestIndexKeepsNoMap(t *testing.T) {
	w, _ := newWheel(t)
	wheels := map[string]Source{"a": w}
	h := Index(wheels)
	delete(wheels, "a")
	names, _ := listed(t, h)
	require.Equal(t, []string{"a"}, names)
}
