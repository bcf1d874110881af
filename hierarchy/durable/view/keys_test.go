package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	durableview "github.com/epicycle-go/epicycle/hierarchy/durable/view"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

// keysOf asks a page for keys, and returns them with what stands beside them.
func keysOf(t *testing.T, h http.Handler, find, state string) (keys []string, more bool) {
	var a struct {
		Keys []struct {
			Key, Note string
			Remaining time.Duration `json:"remaining_ns"`
		}
		More bool
	}
	text := get(t, h, "/keys?"+url.Values{"find": {find}, "state": {state}}.Encode())
	require.NotContains(t, text, "secret")
	require.NoError(t, json.Unmarshal([]byte(text), &a))
	for _, k := range a.Keys {
		if k.Note == "" {
			k.Note = k.Remaining.String()
		}
		keys = append(keys, k.Key+" "+k.Note)
	}
	return keys, a.More
}

// The keys that begin with a text are shown, of one state, in the order in which they are due. Values are not.
func TestKeys(t *testing.T) {
	mock := clock.NewMock()
	w := newTimers(t, mock)
	for i := range 50 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint("user-", i), "secret", time.Duration(60-i)*time.Minute)))
	}
	require.NoError(t, errOf(w.Set(t.Context(), "a user-1", "secret", time.Minute)))
	for i := range 3 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint("order-", i), "bad", time.Duration(i)*time.Second)))
	}
	mock.Add(2 * time.Second)
	h := durableview.Handler(w, durableview.Keys(w, func(k string) string { return "the " + k }))
	keys, more := keysOf(t, h, "", "")
	require.Len(t, keys, view.MaxKeys)
	require.True(t, more)
	require.Equal(t, []string{"the a user-1 58s", "the user-49 10m58s"}, keys[:2])
	keys, more = keysOf(t, h, "the user-1", "waiting")
	require.Len(t, keys, 11)
	require.False(t, more)
	require.Equal(t, "the user-1 58m58s", keys[10])
	keys, _ = keysOf(t, h, "the order", "")
	require.Empty(t, keys)
	keys, _ = keysOf(t, h, "the order", "dead")
	require.Equal(t, []string{"the order-2 attempt 1 failed; due 1970-01-01 00:00:02",
		"the order-1 attempt 1 failed; due 1970-01-01 00:00:01", "the order-0 attempt 1 failed; due 1970-01-01 00:00:00"}, keys)
}

// A timer whose handler runs is shown as such.
func TestKeysOfRunningTimers(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: t.TempDir(),
		Handle: func(context.Context, durable.Firing[string, string]) error { entered <- true; <-leave; return nil }})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	require.NoError(t, errOf(w.Set(t.Context(), "runs", "", 0)))
	require.NoError(t, errOf(w.Set(t.Context(), "waits", "", time.Hour)))
	<-entered
	h := durableview.Handler(w, durableview.Keys(w, nil))
	keys, _ := keysOf(t, h, "", "running")
	require.Equal(t, []string{"runs attempt 1"}, keys)
	keys, _ = keysOf(t, h, "runs", "waiting")
	require.Empty(t, keys)
	close(leave)
}

// Without the option no key is shown. In an Index it belongs to the Source of the same timers.
func TestKeysAreAnOption(t *testing.T) {
	w, other := newTimers(t, clock.NewMock()), newTimers(t, clock.NewMock())
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", time.Hour)))
	for _, h := range []http.Handler{durableview.Handler(w), view.Index(map[string]view.Source{"w": durableview.Source(w)})} {
		for _, path := range []string{"/keys", "/keys?wheel=w"} {
			r := httptest.NewRecorder()
			h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
			require.Equal(t, http.StatusNotFound, r.Code)
		}
	}
	all := map[string]view.Source{"w": durableview.Source(w), "other": durableview.Source(other)}
	h := view.Index(all, durableview.Keys(w, nil))
	require.Contains(t, get(t, h, "/keys?wheel=w"), `"key":"a"`)
	delete(all, "w")
	require.Panics(t, func() { view.Index(all, durableview.Keys(w, nil)) })
}

// If a partition can't be read, the page says so rather than to leave its keys out.
func TestKeysThatCannotBeRead(t *testing.T) {
	w := newTimers(t, clock.NewMock())
	h := durableview.Handler(w, durableview.Keys(w, nil))
	require.NoError(t, w.Close())
	for _, path := range []string{"/keys", "/keys?state=dead"} {
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		require.Equal(t, http.StatusServiceUnavailable, r.Code)
		require.Contains(t, r.Body.String(), "durable: the timers are closed")
	}
}
