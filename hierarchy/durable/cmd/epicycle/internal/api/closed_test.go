package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// While the log gives no answer, nobody knows whether there is a timer: the answer is 503, and never 404.
func TestNoAnswerOfTheLog(t *testing.T) {
	a := newAPI(t)
	require.NoError(t, a.Service.Close())
	for _, request := range [][3]string{
		{"PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`},
		{"PUT", "/v1/timers/k?if=absent", `{"in":"1h","to":{"queue":"q"}}`},
		{"GET", "/v1/timers/k", ""},
		{"PATCH", "/v1/timers/k", `{"in":"1s"}`},
		{"PATCH", "/v1/timers/k", `{"in":"10h"}`},
		{"DELETE", "/v1/timers/k", ""},
		{"POST", "/v1/timers/k/revive", ""},
		{"GET", "/v1/timers", ""},
		{"DELETE", "/v1/timers?prefix=k", ""},
	} {
		r := httptest.NewRequest(request[0], request[1], strings.NewReader(request[2]))
		r.Host = "localhost"
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		require.Equal(t, http.StatusServiceUnavailable, w.Code, "%s %s: %s", request[0], request[1], w.Body)
		require.NotEmpty(t, w.Header().Get("Retry-After"))
	}
}
