package recipes

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// hook is a message to another server, that is sent until it is taken.
type hook struct {
	URL  string
	Body []byte
}

func openHooks(ctx context.Context, dir string, client *http.Client, c clock.Clock) (*durable.Keyed[string, hook], error) {
	return durable.Open(ctx, durable.Config[string, hook]{
		Dir: dir, Clock: c, Name: "hooks",
		MaxAttempts: 20,                                                                  // then it is dead, and an operator decides
		Backoff:     func(n int) time.Duration { return min(time.Second<<n, time.Hour) }, // 2s, 4s, …
		Handle:      func(ctx context.Context, f durable.Firing[string, hook]) error { return post(ctx, client, f) },
	})
}

// post fails if it is worth another attempt.
func post(ctx context.Context, client *http.Client, f durable.Firing[string, hook]) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Value.URL, bytes.NewReader(f.Value.Body))
	if err != nil {
		return nil // a bad URL does not become better
	}
	r.Header.Set("Idempotency-Key", f.ID.String()) // the same at each attempt
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests {
		return fmt.Errorf("%s answers %s", f.Value.URL, answer.Status)
	}
	return nil
}

// The other server is down while this one is deployed anew. The attempts go on.
func TestRetriesSurviveADeploy(t *testing.T) {
	ctx, mock, dir := t.Context(), clock.NewMock(), t.TempDir()
	status := http.StatusServiceUnavailable
	var keys []string
	var server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(status)
	}))
	defer server.Close()
	hooks, err := openHooks(ctx, dir, server.Client(), mock)
	require.NoError(t, err)
	_, err = hooks.Set(ctx, "order 7 is paid", hook{server.URL, []byte("7")}, 0)
	require.NoError(t, err)
	mock.Add(0)
	mock.Add(2 * time.Second)
	require.Len(t, keys, 2)
	shutdown, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	require.NoError(t, hooks.Shutdown(shutdown))

	hooks, err = openHooks(ctx, dir, server.Client(), mock)
	require.NoError(t, err)
	defer hooks.Close()
	status = http.StatusNoContent
	mock.Add(4*time.Second - 1)
	require.Len(t, keys, 2)
	mock.Add(1)
	require.Equal(t, []string{keys[0], keys[0], keys[0]}, keys)
	n, err := hooks.Len(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = hooks.Set(ctx, "bad", hook{URL: ":"}, 0)
	require.NoError(t, err)
	mock.Add(0)
	require.Zero(t, hooks.Stats().Pending)
}
