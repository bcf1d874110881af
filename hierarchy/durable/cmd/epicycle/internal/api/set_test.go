package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// ask makes a request, and returns the timer of its answer, which must have that status.
func ask(t *testing.T, a *API, method, path, body string, status int) (timer Timer) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost"
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	require.Equal(t, status, w.Code, w.Body)
	to := any(&timer)
	if status == 409 {
		to = &struct {
			Timer *Timer `json:"timer"`
		}{&timer}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), to))
	return timer
}

// Of concurrent requests for one key, each is answered with its own timer.
func TestConcurrentRequestsAreAnsweredWithTheirOwn(t *testing.T) {
	a := newAPI(t)
	ids := make(chan string, 16*20)
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			for i := range 20 {
				value := fmt.Sprint(client*20 + i)
				timer := ask(t, a, "PUT", "/v1/timers/k", `{"in":"1h","value":`+value+`,"to":{"queue":"q"}}`, 200)
				if string(timer.Value) != value {
					t.Error(value, string(timer.Value))
				}
				ids <- timer.ID
			}
		})
	}
	clients.Wait()
	close(ids)
	seen := map[string]bool{}
	for id := range ids {
		require.False(t, seen[id])
		seen[id] = true
	}
}

// What a request answers is what is there.
func TestAnswersAreWhatIsThere(t *testing.T) {
	a := newAPI(t)
	for _, q := range []struct{ method, query, body string }{
		{"PUT", "", `{"in":"1h","value":{"a": [1, 2.50]},"to":{"webhook":"https://example.com/x"},"timeout":"90s"}`},
		{"PATCH", "", `{"in":"2h"}`}, {"PATCH", "", `{"at":"2040-01-31T12:00:00.5+01:00"}`},
		{"PUT", "", `{"at":"2040-01-31T12:00:00.5+01:00","to":{"queue":"q"}}`},
		{"PUT", "?if=sooner", `{"at":"2039-01-31T12:00:00Z","to":{"queue":"q"}}`},
		{"PUT", "?if=later", `{"in":"200000h","to":{"queue":"q"}}`},
		{"PUT", "", `{"schedule":"@daily","to":{"queue":"q"}}`}, {"PATCH", "", `{"in":"2h"}`},
	} {
		answer := ask(t, a, q.method, "/v1/timers/k"+q.query, q.body, 200)
		require.Equal(t, ask(t, a, "GET", "/v1/timers/k", "", 200), answer, q)
		require.Equal(t, answer, ask(t, a, "PUT", "/v1/timers/k?if=absent", `{"in":"1h","to":{"queue":"q"}}`, 409))
	}
}

// A timer with a time goes by the wall clock, in whichever way it got it.
func TestTimesFollowTheWallClock(t *testing.T) {
	mock := clock.NewMock()
	a := newAPI(t, func(cfg *durable.Config[string, task.Task]) { cfg.Clock = mock })
	at := mock.Now().Add(2 * time.Hour).UTC().Format(time.RFC3339Nano)
	set := `{"at":"` + at + `","to":{"queue":"q"}}`
	keys := []string{"", "absent", "sooner", "later", "patched"}
	for _, cond := range keys[:4] {
		ask(t, a, "PUT", "/v1/timers/"+cond+"k?if="+cond, set, 200)
	}
	ask(t, a, "PUT", "/v1/timers/patchedk", `{"in":"1h","to":{"queue":"q"}}`, 200)
	ask(t, a, "PATCH", "/v1/timers/patchedk", `{"at":"`+at+`"}`, 200)
	ask(t, a, "PUT", "/v1/timers/movedk", `{"in":"1h","to":{"queue":"q"}}`, 200)
	ops := []string{`{"op":"move","key":"movedk","at":"` + at + `"}`}
	keys = append(keys, "moved")
	for _, cond := range keys[:4] {
		key := "batch" + cond
		keys = append(keys, key)
		ops = append(ops, fmt.Sprintf(`{"op":"set","key":"%sk","if":%q,%s`, key, cond, set[1:]))
	}
	ask(t, a, "POST", "/v1/batch", `{"operations":[`+strings.Join(ops, ",")+`]}`, 200)
	mock.Jump(time.Hour)
	for _, k := range keys {
		_, remaining, ok, err := a.Service.Get(t.Context(), k+"k")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, time.Hour, remaining, k)
	}
}

// The same request again, when time has passed, finds the timer that the first one has set.
func TestRequestsWithATimeAndAConditionAgain(t *testing.T) {
	mock := clock.NewMock()
	a := newAPI(t, func(cfg *durable.Config[string, task.Task]) { cfg.Clock = mock })
	for _, cond := range []string{"absent", "sooner", "later"} {
		path := "/v1/timers/" + cond + "?if=" + cond
		set := `{"at":"2040-01-31T12:00:00Z","to":{"queue":"q"}}`
		first := ask(t, a, "PUT", path, set, 200)
		for range 3 {
			mock.Add(time.Second)
			mock.Jump(time.Second)
			require.Equal(t, first, ask(t, a, "PUT", path, set, 409))
		}
	}
}
