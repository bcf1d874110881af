package command

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// front is the part of a server that listens, and decides which requests to accept.
type front struct {
	listener net.Listener
	tokens   *atomic.Pointer[access.Tokens] // nil without -tokens
	files    []file
	conns    limit
	logger   *slog.Logger
}

// Limits for the times and sizes of requests.
const (
	headerTime = 10 * time.Second
	readTime   = 2 * time.Minute
	writeTime  = time.Minute
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
)

// front begins to listen. It refuses settings that would let strangers in. The keys get those of -secret-dir.
func (s *server) front(logger *slog.Logger, keys *web.Keys) (*front, error) {
	f := &front{conns: limit{most: int64(s.maxConns)}, logger: logger}
	if (s.cert == "") != (s.key == "") {
		return nil, usageError("-tls-cert and -tls-key belong together")
	}
	if s.clientCA != "" && s.cert == "" {
		return nil, usageError("-client-ca needs -tls-cert and -tls-key")
	}
	address, err := net.ResolveTCPAddr("tcp", s.listen)
	if err != nil {
		return nil, usageError("-listen: %w", err)
	}
	if err := s.mayListen(address); err != nil {
		return nil, err
	}
	var tlsConfig *tls.Config
	if s.cert != "" {
		tlsConfig = f.withCertificate(s.cert, s.key)
	}
	if s.clientCA != "" {
		f.withClientCA(tlsConfig, s.clientCA)
	}
	if s.tokens != "" {
		f.withTokens(s.tokens)
	}
	if s.secretDir != "" {
		f.files = append(f.files, file{"-secret-dir", func() error { return keys.ReadDir(s.secretDir) }})
	}
	for _, file := range f.files {
		if err := file.read(); err != nil {
			return nil, usageError("%s: %w", file.flag, err)
		}
	}
	if f.listener, err = net.ListenTCP("tcp", address); err != nil {
		return nil, &exit{failed, err}
	}
	if tlsConfig != nil {
		f.listener = tls.NewListener(f.listener, tlsConfig)
	}
	return f, nil
}

// mayListen returns an error if strangers could reach the address. A name was resolved before, so that the address that
// is looked at is the one that is listened on, whatever a file says of localhost.
func (s *server) mayListen(address *net.TCPAddr) error {
	switch {
	case address.IP.IsLoopback():
	case s.tokens == "":
		return usageError("-listen %s is %v, which is not loopback, and needs -tokens", s.listen, address)
	case s.cert == "" && !s.behindProxy:
		return usageError("-listen %s is %v, which is not loopback, and needs -tls-cert and -tls-key, or -behind-proxy", s.listen, address)
	}
	return nil
}

func (f *front) address() string { return f.listener.Addr().String() }
func (f *front) close()          { f.listener.Close() }

// serve serves requests until ctx is done. Then it calls drain, while requests are still served, and shuts the server
// down. Requests in progress have what drain leaves of patience, and at least requestTime.
func (f *front) serve(ctx context.Context, h http.Handler, drain func(context.Context), patience time.Duration) error {
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ConnState: f.conns.state,
		ErrorLog:    slog.NewLogLogger(f.logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return base },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(f.listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	f.logger.Info("epicycle: shutting down", "grace", patience)
	server.SetKeepAlivesEnabled(false)
	ending, done := context.WithTimeout(context.Background(), patience)
	defer done()
	drain(ending)
	ending, done = atLeast(ending, requestTime)
	defer done()
	if err := server.Shutdown(ending); err != nil {
		server.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// requestTime is the least time for the requests in progress when the server shuts down.
const requestTime = 5 * time.Second

// atLeast returns a context that ends with the deadline of ctx, but not before some time from now.
func atLeast(ctx context.Context, least time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(least)
	if deadline, ok := ctx.Deadline(); ok && deadline.After(end) {
		end = deadline
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// limit counts connections, and closes those above the limit.
type limit struct {
	most int64
	open atomic.Int64
}

func (l *limit) state(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if l.open.Add(1) > l.most {
			c.Close() // package http then calls state with StateClosed
		}
	case http.StateClosed, http.StateHijacked:
		l.open.Add(-1)
	}
}
