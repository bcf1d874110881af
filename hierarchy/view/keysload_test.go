package view

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func answerTo(h http.Handler, r *http.Request) (code int, text string) {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

// Only a GET of keys reads keys.
func TestNoKeyIsReadUnasked(t *testing.T) {
	w, _ := newKeyed(t)
	require.NoError(t, w.Set("a", 1, time.Hour))
	k := newKeys(w, func(context.Context, keyQuery) (keyList, error) {
		panic("keys are read")
	})
	h := Handler(w, func(o *options) { o.keys = append(o.keys, k) })
	get(t, h, http.MethodGet, "/")
	get(t, h, http.MethodGet, "/json")
	get(t, h, http.MethodHead, "/events")
	r := get(t, h, http.MethodHead, "/keys?find=a")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Panics(t, func() { get(t, h, http.MethodGet, "/keys") })
}

// For the next keys, only those that are shown are formatted.
func TestOnlyShownKeysAreFormatted(t *testing.T) {
	w, _ := newKeyed(t)
	for i := range 1000 {
		require.NoError(t, w.Set(fmt.Sprint(i), i, time.Hour))
	}
	formatted := 0
	keysAt(t, Handler(w, Keys(w, func(k string) string { formatted++; return k })), "")
	require.Equal(t, 20, formatted)
}

// The loop over keys ends soon after its request has, and others are answered.
func TestRequestForKeysIsCancelled(t *testing.T) {
	w, _ := newKeyed(t)
	for i := range 10000 {
		require.NoError(t, w.Set(fmt.Sprint("k", i), i, time.Hour))
	}
	ctx, cancel := context.WithCancel(context.Background())
	formatted := 0
	h := Handler(w, Keys(w, func(k string) string {
		if formatted++; formatted == 1000 {
			cancel()
		}
		return k
	}))
	code, text := answerTo(h, request(http.MethodGet, "/keys?find=k", nil).WithContext(ctx))
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.NotContains(t, text, "k1")
	require.Less(t, formatted, 1000+keysPerCheck)
	code, _ = answerTo(h, request(http.MethodGet, "/keys", nil).WithContext(ctx))
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Len(t, keysAt(t, h, "?find=k").Keys, 20)
}

// A format function that panics does not keep others from being answered.
func TestFormatOfKeysPanics(t *testing.T) {
	w, _ := newKeyed(t)
	require.NoError(t, w.Set("a", 1, time.Hour))
	broken := true
	h := Handler(w, Keys(w, func(k string) string {
		if broken {
			panic("broken")
		}
		return k
	}))
	require.PanicsWithValue(t, "broken", func() { get(t, h, http.MethodGet, "/keys") })
	broken = false
	require.Len(t, keysAt(t, h, "").Keys, 1)
}

// One request at a time goes through the keys, however many there are. A request that waits
// for its turn ends with its context.
func TestOneAtATimeReadsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newKeyed(t)
		for i := range 10 {
			require.NoError(t, w.Set(fmt.Sprint("k", i), i, time.Hour))
		}
		var mu sync.Mutex
		reading, most := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			reading += n
			most = max(most, reading)
		}
		h := Handler(w, Keys(w, func(k string) string {
			count(1)
			defer count(-1)
			time.Sleep(time.Second)
			return k
		}))
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() { answerTo(h, request(http.MethodGet, "/keys"+find(fmt.Sprint("k", i)), nil)) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		code, _ := answerTo(h, request(http.MethodGet, "/keys?find=x", nil).WithContext(ctx))
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Equal(t, time.Second, time.Since(start))
		all.Wait()
		require.Equal(t, 1, most)
	})
}

// Those who ask the same within a second get the same answer. Another question gets its own.
func TestKeysAreSharedForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newKeyed(t)
		require.NoError(t, w.Set("ab", 1, time.Hour))
		reads := 0
		k := newKeys(w, func(ctx context.Context, q keyQuery) (keyList, error) {
			reads++
			time.Sleep(2 * time.Second)
			return listKeys(ctx, w, func(k string) string { return k }, q.find)
		})
		h := Handler(w, func(o *options) { o.keys = append(o.keys, k) })
		var all sync.WaitGroup
		for range 100 { // all wait for one answer
			all.Go(func() { answerTo(h, request(http.MethodGet, "/keys", nil)) })
		}
		all.Wait() // two seconds
		time.Sleep(shareTime - time.Nanosecond)
		require.Len(t, keysAt(t, h, "").Keys, 1)
		require.Equal(t, 1, reads)
		time.Sleep(time.Nanosecond)
		keysAt(t, h, "")
		require.Equal(t, 2, reads)
		require.Len(t, keysAt(t, h, find("a")).Keys, 1)
		require.Empty(t, keysAt(t, h, find("c")).Keys)
		require.Empty(t, keysAt(t, h, find("c")).Keys)
		require.Equal(t, 4, reads)
	})
}
