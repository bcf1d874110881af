package view_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

// The page of a wheel is then at http://localhost:6060/debug/wheel/.
func ExampleHandler() {
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		panic(err)
	}
	defer w.Stop()
	mux := http.NewServeMux() // or http.Handle, as for net/http/pprof
	mux.Handle("/debug/wheel/", view.Handler(w))
	server := httptest.NewServer(mux) // in production http.ListenAndServe("localhost:6060", mux)
	defer server.Close()

	r, err := http.Get(server.URL + "/debug/wheel/")
	if err != nil {
		panic(err)
	}
	defer r.Body.Close()
	fmt.Println(r.Status, r.Header.Get("Content-Type"))
	// Output: 200 OK text/html; charset=utf-8
}

// The figures are also available as JSON, without the page.
func ExampleHandler_json() {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	if err != nil {
		panic(err)
	}
	defer w.Stop()
	for i := range 100 {
		if _, err := w.AfterFunc(time.Duration(i)*time.Second, func() {}); err != nil {
			panic(err)
		}
	}
	m.Add(time.Minute)
	server := httptest.NewServer(http.StripPrefix("/wheels/main", view.Handler(w)))
	defer server.Close()

	r, err := http.Get(server.URL + "/wheels/main/json")
	if err != nil {
		panic(err)
	}
	defer r.Body.Close()
	var figures struct {
		Elapsed time.Duration `json:"elapsed_ns"`
		Fired   int           `json:"fired"`
		Pending int           `json:"pending"`
		Circles []struct {
			Width time.Duration `json:"width_ns"`
			Base  bool          `json:"base"`
		} `json:"circles"`
	}
	if err := json.NewDecoder(r.Body).Decode(&figures); err != nil {
		panic(err)
	}
	fmt.Println(figures.Fired, "fired and", figures.Pending, "pending after", figures.Elapsed)
	for _, c := range figures.Circles {
		if c.Base {
			fmt.Println("slots of the base circle are", c.Width, "wide")
		}
	}
	// Output:
	// 61 fired and 39 pending after 1m0s
	// slots of the base circle are 1.073741824s wide
}

// One page lists several wheels of a process and links to their pages. Hosts allows the
// host name of the server.
func ExampleIndex() {
	sessions, err := hierarchy.NewKeyed(hierarchy.Config{}, func(string, int) {})
	if err != nil {
		panic(err)
	}
	defer sessions.Stop()
	retries, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		panic(err)
	}
	defer retries.Stop()
	http.Handle("/debug/wheels/", view.Index(
		map[string]view.Source{"sessions": sessions, "retries": retries},
		view.Title("billing"), view.Hosts("billing.example.com"),
	))
	server := httptest.NewServer(nil) // in production http.ListenAndServe("localhost:6060", nil)
	defer server.Close()

	if err := sessions.Set("a token", 1, time.Hour); err != nil {
		panic(err)
	}
	for _, path := range []string{"/debug/wheels/json", "/debug/wheels/json?wheel=sessions"} {
		r, err := http.Get(server.URL + path)
		if err != nil {
			panic(err)
		}
		defer r.Body.Close()
		var figures struct {
			Pending int
			Wheels  []struct {
				Name    string
				Pending int
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&figures); err != nil {
			panic(err)
		}
		fmt.Println(figures.Wheels, figures.Pending)
	}
	// Output:
	// [{retries 0} {sessions 1}] 0
	// [] 1
}

// The page shows the next keys that are due and finds keys, which are also available as JSON.
// The format function masks the keys.
func ExampleKeys() {
	m := clock.NewMock()
	sessions, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(token, user string) {})
	if err != nil {
		panic(err)
	}
	defer sessions.Stop()
	for i, token := range []string{"f3a9-secret", "07bc-secret", "f3d0-secret"} {
		if err := sessions.Set(token, "a user", time.Duration(3-i)*time.Minute); err != nil {
			panic(err)
		}
	}
	masked := func(token string) string { return fmt.Sprintf("%.4s…", token) }
	page := view.Handler(sessions, view.Keys(sessions, masked))
	for _, path := range []string{"/keys", "/keys?find=f3"} {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		var list struct {
			Keys []struct {
				Key       string
				Remaining time.Duration `json:"remaining_ns"`
			}
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
			panic(err)
		}
		fmt.Println(list.Keys)
	}
	// Output:
	// [{f3d0… 1m0s} {07bc… 2m0s} {f3a9… 3m0s}]
	// [{f3d0… 1m0s} {f3a9… 3m0s}]
}

// Host names other than localhost must be allowed. Otherwise a web page elsewhere could
// point its own name at your machine and read the figures through your browser.
func ExampleHosts() {
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		panic(err)
	}
	defer w.Stop()
	page := view.Handler(w, view.Title("timeouts"), view.Hosts("wheels.example.com"))
	for _, host := range []string{"localhost:6060", "10.1.2.3:6060", "wheels.example.com", "evil.example"} {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil))
		fmt.Println(host, answer.Code)
	}
	// Output:
	// localhost:6060 200
	// 10.1.2.3:6060 200
	// wheels.example.com 200
	// evil.example 403
}
