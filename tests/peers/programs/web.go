package main

import (
	"context"
	"net"
	"net/http"
	"time"

	ours "github.com/epicycle-go/epicycle/compat/context"
)

// httpProgram is an HTTP server that makes a context with a timeout for each request, and two more below it.
func httpProgram() program {
	p := webProgram(runHTTP)
	p.name, p.what = "http", "HTTP server with %s connections; a timeout and three contexts for each request"
	p.full = size{N: 2000, Rounds: 20}
	p.quick = size{N: 100, Rounds: 2}
	return p
}

// webProgram is what the programs with HTTP have in common. The client makes Rounds requests on each connection, of which
// some last until their time is over.
func webProgram(run func(contexts) func(context.Context, size) (result, error)) program {
	return program{
		unit: "request, at the server",
		late: "how long requests take, of those that need no time",
		work: func(s size) int { return s.N * s.Rounds },
		ways: []way{
			{"package context", false, run(contexts{context.WithTimeout, context.WithValue, context.WithCancel})},
			{"compat/context", true, run(contexts{ours.WithTimeout, ours.WithValue, ours.WithCancel})},
		},
	}
}

// contexts is a way to make contexts.
type contexts struct {
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	withValue   func(parent context.Context, key, value any) context.Context
	withCancel  func(context.Context) (context.Context, context.CancelFunc)
}

// A request to slowPath lasts until the shorter of its timeouts is over.
const (
	slowPath     = "/slow"
	timeout      = 10 * time.Second
	shortTimeout = 20 * time.Millisecond
)

type userKey struct{}

// wrap gives each request its contexts, as a stack of middleware does.
func (c contexts) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		d := timeout
		if r.URL.Path == slowPath {
			d = shortTimeout
		}
		ctx, cancel := c.withTimeout(r.Context(), d)
		defer cancel()
		ctx, cancelCall := c.withCancel(c.withValue(ctx, userKey{}, r.RemoteAddr))
		defer cancelCall()
		next.ServeHTTP(rw, r.WithContext(ctx))
	})
}

// handle waits for a call that needs no time, or too much. Its answer says which.
func handle(rw http.ResponseWriter, r *http.Request) {
	called := make(chan struct{})
	if r.URL.Path != slowPath {
		close(called)
	}
	select {
	case <-called:
		_, _ = rw.Write([]byte("hello"))
	case <-r.Context().Done():
		rw.WriteHeader(http.StatusGatewayTimeout)
	}
}

func runHTTP(c contexts) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		u, err := startClient(ctx)
		if err != nil {
			return f, err
		}
		defer u.close()
		return load(u, c.wrap(http.HandlerFunc(handle)), size)
	}
}

// load serves the requests of a client.
func load(u *client, h http.Handler, size size) (f result, err error) {
	f.N = mostConnections(size.N)
	server := &http.Server{Handler: h}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return f, err
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	if _, err := u.do(request{Do: "dial", Addresses: []string{listener.Addr().String()}, N: f.N}); err != nil {
		return f, err
	}
	if _, err := u.do(request{Do: "get", Rounds: 1}); err != nil { // so that all is allocated
		return f, err
	}
	m := newMeter()
	a, err := u.do(request{Do: "get", Rounds: size.Rounds})
	m.stop(&f, a.N)
	f.Late = a.Late
	return f, err
}
