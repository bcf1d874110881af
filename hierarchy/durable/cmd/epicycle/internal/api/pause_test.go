package api

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// A schedule is paused and resumed, and each answer has the timer as it is then.
func TestPause(t *testing.T) {
	mock := clock.NewMock()
	a := newAPI(t, func(cfg *durable.Config[string, task.Task]) { cfg.Clock = mock })
	set := ask(t, a, "PUT", "/v1/timers/k", `{"schedule":"@every 1h","to":{"queue":"q"}}`, 200)
	paused := ask(t, a, "PATCH", "/v1/timers/k", `{"paused":true}`, 200)
	require.True(t, paused.Paused)
	require.Equal(t, paused, ask(t, a, "GET", "/v1/timers/k", "", 200))
	list := func() string {
		r := httptest.NewRequest("GET", "/v1/timers?state=paused&limit=1", nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Body.String()
	}
	ask(t, a, "PUT", "/v1/timers/a", `{"schedule":"@every 1h","to":{"queue":"q"}}`, 200)
	require.Contains(t, list(), `"timers":[{"key":"k",`)
	paused.Paused = false
	require.Equal(t, set, paused)
	mock.Add(90 * time.Minute)
	require.True(t, ask(t, a, "PUT", "/v1/timers/k", `{"schedule":"@every 1h","to":{"queue":"q"}}`, 200).Paused)
	mock.Add(90 * time.Minute)
	resumed := ask(t, a, "PATCH", "/v1/timers/k", `{"paused":false}`, 200)
	require.False(t, resumed.Paused)
	require.JSONEq(t, `{"timers":[]}`, list())
	require.Equal(t, 210*time.Minute, resumed.Due.Sub(time.Unix(0, 0)))

	ask(t, a, "PUT", "/v1/timers/once", `{"in":"1h","to":{"queue":"q"}}`, 200)
	for _, one := range []struct {
		key, body string
		status    int
	}{
		{"none", `{"paused":true}`, 404}, {"once", `{"paused":true}`, 409}, {"once", `{"paused":false}`, 409},
		{"k", `{"paused":true,"in":"1s"}`, 400}, {"k", `{"paused":1}`, 400}, {"k", `{}`, 400},
	} {
		ask(t, a, "PATCH", "/v1/timers/"+one.key, one.body, one.status)
	}
	require.False(t, ask(t, a, "GET", "/v1/timers/k", "", 200).Paused)
}

// A schedule whose last run was due in the pause has ended.
func TestResumeAfterTheLastRun(t *testing.T) {
	mock := clock.NewMock()
	a := newAPI(t, func(cfg *durable.Config[string, task.Task]) { cfg.Clock = mock })
	ask(t, a, "PUT", "/v1/timers/k", `{"schedule":"@every 1h","until":"1970-01-01T01:30:00Z","to":{"queue":"q"}}`, 200)
	ask(t, a, "PATCH", "/v1/timers/k", `{"paused":true}`, 200)
	mock.Add(2 * time.Hour)
	ask(t, a, "PATCH", "/v1/timers/k", `{"paused":false}`, 404)
	ask(t, a, "GET", "/v1/timers/k", "", 404)
}

// A move in a batch that has what only a set may have is refused, instead of leaving that out.
func TestMovesOfABatch(t *testing.T) {
	a := newAPI(t)
	ask(t, a, "PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`, 200)
	before := ask(t, a, "GET", "/v1/timers/k", "", 200)
	for _, more := range []string{
		`"schedule":"@daily"`, `"debounce":{"quiet":"1s","longest":"2s"}`, `"spread":"1h"`, `"value":1`, `"to":{"queue":"p"}`,
		`"timeout":"1s"`, `"retry":{"attempts":1}`, `"if":"absent"`,
	} {
		r := httptest.NewRequest("POST", "/v1/batch", strings.NewReader(`{"operations":[{"op":"move","key":"k","in":"2h",`+more+`}]}`))
		r.Host = "localhost"
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		require.Equal(t, 200, w.Code)
		require.Contains(t, w.Body.String(), errMovedOp.Error(), more)
	}
	require.Equal(t, before, ask(t, a, "GET", "/v1/timers/k", "", 200))
}
