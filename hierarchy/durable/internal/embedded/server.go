// Package embedded runs a NATS server in this process, without a port, that keeps its files in a
// directory. The directory is for one process at a time.
//
// Locks are taken in this order: opened.mu, then Server.mu.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/anchor"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// The errors of Open. They are wrapped with the directory and with advice.
var (
	errInUse   = errors.New("the directory is in use by another process")
	errVersion = errors.New("the directory has another format")
	// ErrCorrupt means that data that the server has written is missing or can't be read.
	ErrCorrupt = errors.New("the server's files are damaged")
)

// maxPayload is the largest message: enough for the largest Batch in most programs.
const maxPayload = 8 << 20

// Server is the server of one directory. All Shares of the directory in this process use it.
type Server struct {
	dir  string
	lock *os.File // nil before it is acquired
	// anchor notices that the directory is gone. It is nil before the directory is acquired.
	anchor *anchor.Anchor
	conn   *nats.Conn
	sync   func(*os.File) error

	shares   []*Share      // guarded by opened.mu: the shares that are open, the oldest first
	running  bool          // guarded by opened.mu: the server has started
	stopping bool          // guarded by opened.mu: no further share can be opened
	started  chan struct{} // closed when the server has started, or failed to
	failure  error         // why the server failed to start; written before started is closed
	stopped  chan struct{} // closed when the lock of the directory is free

	quit     chan struct{}  // closed by stop
	watching sync.WaitGroup // counts the goroutine of watch
	failures wait.Signal    // set when a write has failed

	probing sync.Mutex // locked while there are files of a probe

	mu       sync.Mutex
	server   *server.Server          // nil while it is ended
	healthy  context.Context         // ends when there is a problem, which is its cause
	fail     context.CancelCauseFunc // cancels healthy
	lost     error                   // the error because of which data may not be on the disk; never reset
	failedAt time.Time               // when healthy last ended
	corrupt  map[string]error        // by stream: the damage that the server has found

	onCorrupt map[*func(string, error)]bool // the functions to call when it finds more
}

func newServer(dir string) *Server {
	s := &Server{
		dir: dir, sync: (*os.File).Sync, started: make(chan struct{}), stopped: make(chan struct{}),
		quit: make(chan struct{}), failures: wait.NewSignal(),
		corrupt: make(map[string]error), onCorrupt: make(map[*func(string, error)]bool),
	}
	s.healthy, s.fail = context.WithCancelCause(context.Background())
	return s
}

// Gone returns an error if the directory is not any more where it was opened. What is written now is lost.
func (s *Server) Gone() error { return s.anchor.Check() }

// Conn returns a connection to the server. It ends when the last share is closed.
func (s *Server) Conn() *nats.Conn { return s.conn }

// start starts the server, and acquires its directory. No other Server of this process has the directory.
func (s *Server) start() (err error) {
	if s.lock, err = acquire(filepath.Join(s.dir, "lock")); err != nil {
		return err
	}
	if err = checkVersion(s.dir); err != nil {
		return err
	}
	s.anchor = anchor.New(s.lock, streams(s.dir))
	if err = s.begin(); err != nil {
		return err
	}
	if err = s.connect(); err == nil {
		s.watching.Go(s.watch)
	}
	return err
}

// begin starts the NATS server itself, unless data may be lost.
func (s *Server) begin() error {
	err := syncFiles(streams(s.dir), s.sync)
	if errors.Is(err, errSync) {
		s.failed(err.Error())
	}
	if err := cmp.Or(s.unsynced(), err); err != nil {
		return err
	}
	if err := cmp.Or(s.setAside(), canOpenFiles(s.dir)); err != nil {
		return err
	}
	n, err := server.NewServer(options(s.dir))
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.server = n
	s.mu.Unlock()
	l := &logger{Server: s}
	n.SetLoggerV2(l, false, false, false)
	n.Start() // returns when the server is ready, or never will be
	if reason := l.fatal.Load(); reason != nil {
		return s.notStarted(*reason)
	}
	if !n.ReadyForConnections(startTime) || !n.JetStreamEnabled() {
		return errors.New("the server does not start, and does not say why")
	}
	return nil
}

// startTime limits the time in which the server must accept a connection after it has reported that it is ready.
const startTime = 10 * time.Second

// end ends the NATS server itself, if it runs.
func (s *Server) end() {
	s.mu.Lock()
	n := s.server
	s.server = nil
	s.mu.Unlock()
	if n != nil {
		n.Shutdown()
		n.WaitForShutdown()
	}
}

func (s *Server) connect() (err error) {
	s.conn, err = nats.Connect("", nats.InProcessServer(s), nats.Name("epicycle"), nats.MaxReconnects(-1),
		nats.ReconnectWait(10*time.Millisecond),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil && s.Problem() == nil {
				s.tell(slog.LevelWarn, "durable: the connection to the server was lost", "err", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.tell(slog.LevelWarn, "durable: the server's connection", "err", err)
		}))
	return err
}

func options(dir string) *server.Options {
	return &server.Options{
		ServerName: "epicycle", DontListen: true, NoSigs: true, NoSystemAccount: false,
		JetStream: true, StoreDir: streams(dir), SyncAlways: true,
		JetStreamMaxStore: 1 << 50, JetStreamMaxMemory: 1 << 30,
		MaxPayload: maxPayload, MaxPending: 256 << 20, DisableJetStreamBanner: true,
	}
}

// streams returns the directory in which the server keeps its files.
func streams(dir string) string { return filepath.Join(dir, "streams") }

// stop ends everything that start has begun, even if start has failed halfway.
func (s *Server) stop() {
	if s.conn != nil {
		s.conn.Close()
	}
	close(s.quit)
	s.watching.Wait()
	s.end()
	if s.lock == nil {
		return
	}
	if s.damaged() {
		_ = s.setAside() // if it fails, the next server finds the damage again
	}
	release(s.lock)
}

// notStarted returns why the server does not start. The server reports only that a directory is not writable, so the
// reason comes from the file system.
func (s *Server) notStarted(reason string) error {
	err := cmp.Or(writable(filepath.Join(streams(s.dir), server.JetStreamStoreDir)), errors.New(reason))
	return fmt.Errorf("the server does not start: %w", err)
}
