package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

// front is the part of a server that listens, and decides which requests to accept.
type front struct {
	listener net.Listener
	tokens   *atomic.Pointer[access.Tokens] // nil without -tokens
	file     string
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

// front begins to listen. It refuses settings that would let strangers in.
func (s *server) front(logger *slog.Logger) (*front, error) {
	f := &front{file: s.tokens, conns: limit{most: int64(s.maxConns)}, logger: logger}
	if (s.cert == "") != (s.key == "") {
		return nil, usageError("-tls-cert and -tls-key belong together")
	}
	loopback, err := isLoopback(s.listen)
	switch {
	case err != nil:
		return nil, usageError("-listen: %w", err)
	case !loopback && s.tokens == "":
		return nil, usageError("-listen %s is not loopback, and needs -tokens", s.listen)
	case !loopback && s.cert == "" && !s.behindProxy:
		return nil, usageError("-listen %s is not loopback, and needs -tls-cert and -tls-key, or -behind-proxy", s.listen)
	}
	if s.tokens != "" {
		f.tokens = new(atomic.Pointer[access.Tokens])
		if err := f.readTokens(); err != nil {
			return nil, usageError("-tokens: %w", err)
		}
	}
	if f.listener, err = net.Listen("tcp", s.listen); err != nil {
		return nil, &exit{failed, err}
	}
	if s.cert == "" {
		return f, nil
	}
	cert, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		f.listener.Close()
		return nil, usageError("-tls-cert: %w", err)
	}
	f.listener = tls.NewListener(f.listener, &tls.Config{
		Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12,
	})
	return f, nil
}

// isLoopback reports whether an address can be reached only from this machine.
func isLoopback(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, err
	}
	if host == "localhost" {
		return true, nil
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback(), nil
}

func (f *front) readTokens() error {
	file, err := os.Open(f.file)
	if err != nil {
		return err
	}
	defer file.Close()
	tokens, err := access.Parse(file)
	if err != nil {
		return fmt.Errorf("%s: %w", f.file, err)
	}
	f.tokens.Store(tokens)
	return nil
}

func (f *front) address() string { return f.listener.Addr().String() }
func (f *front) close()          { f.listener.Close() }

// serve serves requests until ctx is done. Then it calls drain, while requests are still served, and shuts the server
// down.
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
	stop := f.onHangup()
	defer stop()
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
	ending, done = context.WithTimeout(context.Background(), requestTime)
	defer done()
	if err := server.Shutdown(ending); err != nil {
		server.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// requestTime is the time limit for the requests in progress when the server shuts down.
const requestTime = 5 * time.Second

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
