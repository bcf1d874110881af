package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// setQueued sets timers of a queue that are due, with values of some bytes.
func setQueued(t *testing.T, a *API, n, size int) {
	t.Helper()
	value, err := json.Marshal(strings.Repeat("x", size))
	require.NoError(t, err)
	for i := range n {
		one := task.Task{Value: value, To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Hour}
		_, err := a.Service.Set(t.Context(), strconv.Itoa(i), one, 0)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return a.Service.Lanes().Queues["q"] == n }, time.Minute, time.Millisecond)
}

// takeMost takes all firings that it gets.
func takeMost(ctx context.Context, a *API, w http.ResponseWriter) {
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/queues/q/take", strings.NewReader(`{"max":10000,"wait":"1m"}`))
	r.Host = "localhost"
	a.ServeHTTP(w, r)
}

// What is taken at once is limited in bytes, too.
func TestTakeIsLimited(t *testing.T) {
	a := newAPI(t)
	const n = 200
	setQueued(t, a, n, 60<<10)
	for got := 0; got < n; {
		w := httptest.NewRecorder()
		takeMost(t.Context(), a, w)
		require.Equal(t, http.StatusOK, w.Code)
		require.Less(t, w.Body.Len(), 9<<20)
		var body Firings
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		require.NotEmpty(t, body.Firings)
		got += len(body.Firings)
	}
}

// broken is a connection that breaks after some bytes.
type broken struct {
	*httptest.ResponseRecorder
	left int
}

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("broken")
	}
	return b.ResponseRecorder.Write(p)
}

// leaver is a client that closes its connection as soon as it has the JSON, before the answer has ended.
type leaver struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l *leaver) Flush() { l.leave() }

// Firings of an answer that is not sent are due again at once, and that counts as no attempt.
func TestFiringsThatAreNotSentAreGivenBack(t *testing.T) {
	a := newAPI(t)
	const n = 10
	setQueued(t, a, n, 20<<10)
	for range 20 { // more often than an attempt may fail
		require.Panics(t, func() { takeMost(t.Context(), a, &broken{httptest.NewRecorder(), 100 << 10}) }, "the answer is cut")
		require.Eventually(t, func() bool { return a.Service.Lanes().Queues["q"] == n }, time.Minute, time.Millisecond)
	}
	ctx, leave := context.WithCancel(t.Context())
	w := &leaver{httptest.NewRecorder(), leave}
	takeMost(ctx, a, w)
	require.Error(t, ctx.Err())
	require.Zero(t, a.Service.Lanes().Queues["q"], "the worker has them")
	var body Firings
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	require.Len(t, body.Firings, n)
	require.Equal(t, 1, body.Firings[0].Attempt)
}

// The answer of take has time after the wait, however little a server gives to other answers.
func TestTakeMayWaitForLongerThanAnAnswerMay(t *testing.T) {
	server := httptest.NewUnstartedServer(newAPI(t))
	server.Config.WriteTimeout = time.Millisecond
	server.Start()
	defer server.Close()
	resp, err := http.Post(server.URL+"/v1/queues/q/take", "application/json", strings.NewReader(`{"wait":"20ms"}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"firings":[]}`, string(b))
}

// If no attempt is known to have ended, and one may have, the answer is 503, in whatever order they are.
func TestEndWithoutAnAnswer(t *testing.T) {
	a := newAPI(t)
	setQueued(t, a, 1, 1)
	token := a.Service.TakeWithin(t.Context(), "q", 1, time.Hour, "")[0].Token
	require.NoError(t, a.Service.Close())
	for _, tokens := range [][]string{{token, "unknown"}, {"unknown", token}, {"unknown", token, "unknown"}} {
		body, err := json.Marshal(&Ending{Tokens: tokens})
		require.NoError(t, err)
		w := a.do(t, "POST", "/v1/queues/q/done", strings.NewReader(string(body)))
		require.Equal(t, http.StatusServiceUnavailable, w.Code, "%q: %s", tokens, w.Body)
	}
}
