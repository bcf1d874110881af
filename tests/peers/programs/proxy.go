package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// proxyProgram is a reverse proxy whose requests have the contexts of httpProgram.
func proxyProgram() program {
	p := webProgram(runProxy)
	p.name, p.what = "proxy", "httputil.ReverseProxy with %s connections; contexts as in http"
	p.full = size{N: 2000, Rounds: 10}
	p.quick = size{N: 100, Rounds: 2}
	return p
}

// runProxy leaves what is behind the proxy to the client's process.
func runProxy(c contexts) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		u, err := startClient(ctx)
		if err != nil {
			return f, err
		}
		defer u.close()
		behind, err := u.do(request{Do: "serve"})
		if err != nil {
			return f, err
		}
		transport := &http.Transport{MaxIdleConnsPerHost: size.N}
		defer transport.CloseIdleConnections()
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind.Address})
		proxy.Transport = transport
		proxy.ErrorHandler = func(rw http.ResponseWriter, r *http.Request, err error) {
			status := http.StatusBadGateway
			if r.Context().Err() != nil {
				status = http.StatusGatewayTimeout
			}
			rw.WriteHeader(status)
		}
		return load(u, c.wrap(proxy), size)
	}
}

// serve makes a client's process serve the requests of a proxy.
func (u *user) serve() (answer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return answer{}, err
	}
	go func() { _ = http.Serve(listener, http.HandlerFunc(handle)) }()
	return answer{Address: listener.Addr().String()}, nil
}
