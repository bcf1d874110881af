package recipes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

func Example_view() {
	w, _ := hierarchy.New(hierarchy.Config{})
	defer w.Stop()

	mux := http.NewServeMux()
	mux.Handle("/debug/wheel/", view.Handler(w))

	server := httptest.NewServer(mux)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	answer, err := http.Get(server.URL + "/debug/wheel/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	page, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Status, strings.HasPrefix(strings.ToLower(string(page)), "<!doctype html>"))
	// Output: 200 OK true
}

func Example_viewIndex() {
	timeouts, _ := hierarchy.New(hierarchy.Config{})
	defer timeouts.Stop()
	sessions, _ := hierarchy.NewKeyed(hierarchy.Config{}, func(string, string) {})
	defer sessions.Stop()

	mux := http.NewServeMux()
	mux.Handle("/debug/wheels/", view.Index(
		map[string]view.Source{"timeouts": timeouts, "sessions": sessions},
		view.Title("billing"),             // shown in browser tabs
		view.Hosts("billing.example.com"), // in addition to localhost and IP addresses
	))

	for _, host := range []string{"localhost:6060", "billing.example.com", "other.example.com"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://"+host+"/debug/wheels/", nil))
		fmt.Println(host, answer.Code)
	}
	// Output:
	// localhost:6060 200
	// billing.example.com 200
	// other.example.com 403
}

func Example_viewKeys() {
	sessions, _ := hierarchy.NewKeyed(hierarchy.Config{}, func(string, string) {})
	defer sessions.Stop()
	mux := http.NewServeMux()
	mux.Handle("/debug/sessions/", view.Handler(sessions,
		view.Keys(sessions, func(token string) string { return fmt.Sprintf("%.4s…", token) })))

	_ = sessions.Set("f3a9-secret", "Ann", time.Hour)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/debug/sessions/keys", nil))
	var list struct{ Keys []struct{ Key string } }
	_ = json.Unmarshal(answer.Body.Bytes(), &list)
	fmt.Println(list.Keys)
	// Output: [{f3a9…}]
}

// endOnShutdown returns h with requests that end when Shutdown of the server is called.
// The server's other requests are not affected.
func endOnShutdown(server *http.Server, h http.Handler) http.Handler {
	closing, beginClosing := context.WithCancel(context.Background())
	server.RegisterOnShutdown(beginClosing)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(closing, cancel)()
		h.ServeHTTP(rw, r.WithContext(ctx))
	})
}

// When the server is shut down while a browser shows the page, the stream of the page ends,
// and another request under way is completed.
func TestStreamEndsOnShutdown(t *testing.T) {
	w, err := hierarchy.New(hierarchy.Config{})
	require.NoError(t, err)
	defer w.Stop()
	asked, answer := make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/work", func(rw http.ResponseWriter, r *http.Request) {
		close(asked)
		<-answer
		_, _ = fmt.Fprint(rw, r.Context().Err())
	})

	server := &http.Server{Handler: mux}
	mux.Handle("/debug/wheel/", endOnShutdown(server, view.Handler(w)))

	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(at) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	stream, err := client.Get("http://" + at.Addr().String() + "/debug/wheel/events")
	require.NoError(t, err)
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	require.True(t, events.Scan()) // the stream has begun
	worked := make(chan string, 1)
	go func() {
		r, err := client.Get("http://" + at.Addr().String() + "/work")
		if err != nil {
			worked <- err.Error()
			return
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		worked <- fmt.Sprint(string(text), err)
	}()
	<-asked

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	down := make(chan error, 1)
	go func() {
		err := server.Shutdown(ctx)
		_ = server.Close() // ends the stream if Shutdown has not
		down <- err
	}()
	for events.Scan() { // until the stream ends
	}
	require.NoError(t, events.Err())
	close(answer)
	require.Equal(t, "<nil><nil>", <-worked)
	require.NoError(t, <-down)
	require.True(t, errors.Is(<-served, http.ErrServerClosed))
}
