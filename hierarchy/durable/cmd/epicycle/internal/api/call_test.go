package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A call ends after the time that its header names, or ten seconds, and not before. Each step of a long call has that time.
func TestTimeOfACall(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 10 * time.Second, "1ns": 1, "250ms": time.Second / 4, "1m": time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/v1/timers/k", nil)
			if text != "" {
				r.Header.Set(timeoutHeader, text)
			}
			begun := time.Now()
			r, end, p := new(API).begin(httptest.NewRecorder(), r)
			require.Nil(t, p)
			defer end()
			<-r.Context().Done()
			require.Equal(t, want, time.Since(begun))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r, end, p := new(API).begin(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/timers/k", nil))
		require.Nil(t, p)
		defer end()
		begun := time.Now()
		for range 10 {
			time.Sleep(9 * time.Second)
			callOf(r.Context()).pause()
			time.Sleep(time.Minute)
			require.NoError(t, r.Context().Err())
			callOf(r.Context()).extend(10 * time.Second)
		}
		<-r.Context().Done()
		require.Equal(t, 700*time.Second, time.Since(begun))
	})
	a := newAPI(t)
	for _, text := range []string{"", "0s", "-1s", "1m1ns", "10", "x", strings.Repeat("1", 10000), "999999h"} {
		r := httptest.NewRequest("GET", "/v1/timers/k", nil)
		r.Host = "localhost"
		r.Header[timeoutHeader] = []string{text}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		require.Equal(t, 400, w.Code, text)
		require.Contains(t, w.Body.String(), timeoutHeader)
		require.Less(t, w.Body.Len(), 1000)
	}
}

// A call that came to its end while it waited is answered with 503, wherever the error was.
func TestLateCalls(t *testing.T) {
	a := newAPI(t)
	require.Equal(t, 200, a.do(t, "PUT", "/v1/timers/old", strings.NewReader(`{"in":"1h","to":{"queue":"q"}}`)).Code)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, request := range [][3]string{
		{"PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`}, {"PATCH", "/v1/timers/k", `{"in":"1s"}`},
		{"DELETE", "/v1/timers/k", ""}, {"POST", "/v1/timers/k/revive", ""},
		{"POST", "/v1/batch", `{"operations":[{"op":"remove","key":"k"}]}`},
		{"POST", "/v1/queues/q/take", `{"wait":"1m"}`}, {"DELETE", "/v1/timers?prefix=o", ""}, {"GET", "/v1/export", ""}, {"POST", "/v1/import", importLine},
	} {
		r := httptest.NewRequestWithContext(ctx, request[0], request[1], strings.NewReader(request[2]))
		r.Host = "localhost"
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		require.Equal(t, http.StatusServiceUnavailable, w.Code, "%s %s: %s", request[0], request[1], w.Body)
		require.Contains(t, w.Body.String(), "may have taken hold")
		require.Equal(t, "1", w.Header().Get("Retry-After"))
	}
}

const importLine = `{"key":"i","value":1,"to":{"queue":"q"},"timeout":"30s","due":"2040-01-01T00:00:00Z","id":"00000000000000000000000000000001","attempt":0,"state":"waiting"}` + "\n"

// Operations of which it is unknown whether they were done are not taken for some that were refused, in whatever order.
func TestUnknownIsWorseThanRefused(t *testing.T) {
	unknown, refused := durable.ErrUnavailable, durable.ErrTooLarge
	for _, errs := range [][]error{{unknown, refused}, {refused, unknown}, {unknown, nil}, {nil, unknown}} {
		var err error
		for _, one := range errs {
			err = worse(err, one)
		}
		require.ErrorIs(t, err, unknown)
		require.Error(t, unanswered(make([]Result, 2), err))
	}
	require.NoError(t, unanswered(make([]Result, 2), worse(refused, refused)))
	require.NoError(t, worse(nil, nil))
}
