package contexts

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// TestContextAllocations pins the allocations of a context. A context of package context
// takes four, and a fifth for Done.
func TestContextAllocations(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{})
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	above, cancel := w.WithTimeout(cancellable, time.Hour)
	defer cancel()
	tests := map[string]struct {
		parent context.Context
		call   func(ctx context.Context)
		want   float64
	}{
		"background":        {context.Background(), func(context.Context) {}, 2},
		"background, Err":   {context.Background(), func(ctx context.Context) { _, _ = ctx.Err(), context.Cause(ctx) }, 2},
		"background, Done":  {context.Background(), func(ctx context.Context) { ctx.Done() }, 8},
		"cancellable":       {cancellable, func(context.Context) {}, 2},
		"cancellable, Err":  {cancellable, func(ctx context.Context) { _, _ = ctx.Err(), context.Cause(ctx) }, 2},
		"cancellable, Done": {cancellable, func(ctx context.Context) { ctx.Done() }, 6},
		"timeout":           {above, func(context.Context) {}, 2},
		"timeout, Done":     {above, func(ctx context.Context) { ctx.Done() }, 6},
	}
	for name, test := range tests {
		require.Equal(t, test.want, testing.AllocsPerRun(1000, func() {
			ctx, cancel := w.WithTimeout(test.parent, time.Hour)
			test.call(ctx)
			cancel()
		}), name)
	}
	// A new parent each time, which itself takes two.
	require.Equal(t, 2.0+2, testing.AllocsPerRun(1000, func() {
		parent, cancelParent := context.WithCancel(context.Background())
		_, cancel := w.WithTimeout(parent, time.Hour)
		cancel()
		cancelParent()
	}))
}

func TestContextChildrenNeedNoGoroutine(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	before := runtime.NumGoroutine()
	for _, parent := range []context.Context{context.Background(), cancellable, newContext(wheelContexts(w), cancellable)} {
		ctx, cancel := w.WithTimeout(parent, time.Hour)
		for range 100 {
			child := dropCancel(context.WithCancel(ctx))
			context.AfterFunc(ctx, nop)
			newContext(wheelContexts(w), child)
			newContext(wheelContexts(w), context.WithValue(ctx, contextKey{}, 1))
			if parent == context.Background() {
				dropCancel(context.WithCancel(context.WithValue(ctx, contextKey{}, 1)))
			}
		}
		awaitGoroutines(t, before)
		cancel() // starts the goroutines of AfterFunc, which end
		for runtime.NumGoroutine() > before {
			time.Sleep(time.Millisecond)
		}
	}
}

// The context of a group has a parent and a child that a wheel made.
func TestContextsAndErrgroup(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := background(w)
	defer cancel()
	group, groupCtx := errgroup.WithContext(ctx)
	below, cancelBelow := w.WithTimeout(groupCtx, time.Hour)
	defer cancelBelow()
	group.Go(func() error { <-groupCtx.Done(); return context.Cause(groupCtx) })
	group.Go(func() error { <-below.Done(); return context.Cause(below) })
	m.Add(time.Second)
	require.Equal(t, errLate, group.Wait())
	require.Equal(t, context.DeadlineExceeded, below.Err())

	group, groupCtx = errgroup.WithContext(context.Background())
	below, cancelBelow = w.WithTimeout(groupCtx, time.Hour)
	defer cancelBelow()
	done := below.Done()
	group.Go(func() error { return errParent })
	require.Equal(t, errParent, group.Wait())
	require.Equal(t, "done", doneState(done))
	require.Equal(t, errParent, causeUnasked(below))
}

// A client sends a request with a context of a wheel. The handler makes one below the
// context of the request.
func TestContextsOfRequests(t *testing.T) {
	ofServer, _ := wheeltest.OnMock(t, hierarchy.Config{})
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := ofServer.WithTimeout(r.Context(), time.Hour)
		defer cancel()
		rw.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(rw).Flush()
		<-ctx.Done()
		ended <- causeUnasked(ctx)
	}))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()

	m := clock.NewMock()
	w := wheeltest.New(t, hierarchy.Config{Clock: m})
	ctx, cancel := background(w)
	defer cancel()
	request, err := http.NewRequestWithContext(context.WithValue(ctx, contextKey{}, 1), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	m.Add(time.Second)
	_, err = response.Body.Read(make([]byte, 1))
	require.ErrorIs(t, err, errLate)
	require.Equal(t, context.Canceled, <-ended, "the client has gone")
	require.Zero(t, ofServer.Len()+w.Len())
}
