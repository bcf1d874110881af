// Package embedded runs a NATS server in this process, without a port, that keeps its files in a
// directory. The directory is for one process at a time.
package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// The errors of Open. They are wrapped with the directory and what to do.
var (
	ErrInUse   = errors.New("the directory is in use by another process")
	ErrVersion = errors.New("the directory has another format")
)

// maxPayload is the largest message: enough for the largest Batch in most programs.
const maxPayload = 8 << 20

// Server is the server of one directory. All who open the directory in this process share it.
type Server struct {
	dir   string
	log   *slog.Logger
	lock  *lock
	conn  *nats.Conn
	users int // guarded by opened.mu

	quit     chan struct{} // closed by stop
	watched  chan struct{} // closed when watch has ended; nil before it begins
	failures chan bool     // of capacity 1: a write has failed, and whether for lack of room

	mu      sync.Mutex
	server  *server.Server // nil while it is ended
	problem error
}

// opened is the servers of this process, by directory.
var opened struct {
	mu      sync.Mutex
	servers map[string]*Server
}

// Open starts the server of dir, or shares the one that runs in this process. Each Open needs a
// Close.
func Open(dir string, log *slog.Logger) (*Server, error) {
	dir, err := prepare(dir)
	if err != nil {
		return nil, err
	}
	opened.mu.Lock()
	defer opened.mu.Unlock()
	s := opened.servers[dir]
	if s == nil {
		if s, err = start(dir, log); err != nil {
			return nil, err
		}
		if opened.servers == nil {
			opened.servers = make(map[string]*Server)
		}
		opened.servers[dir] = s
	}
	s.users++
	return s, nil
}

// prepare makes the directory, and returns a name of it that is always the same.
func prepare(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the directory: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// Conn is a connection to the server. It ends with the last Close.
func (s *Server) Conn() *nats.Conn { return s.conn }

// Close ends the server if nobody else in this process uses it, and waits until its files are
// closed.
func (s *Server) Close() {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	delete(opened.servers, s.dir)
	s.stop()
}

// start starts the server of a directory that no Server of this process has.
func start(dir string, log *slog.Logger) (*Server, error) {
	s := &Server{dir: dir, log: log, quit: make(chan struct{}), failures: make(chan bool, 1)}
	if err := s.start(); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return s, nil
}

func (s *Server) start() (err error) {
	if s.lock, err = acquire(filepath.Join(s.dir, "lock")); err != nil {
		return err
	}
	if err = checkVersion(filepath.Join(s.dir, "version")); err != nil {
		return err
	}
	if err = s.begin(); err != nil {
		return err
	}
	if err = s.connect(); err != nil {
		return err
	}
	s.watched = make(chan struct{})
	go s.watch()
	return nil
}

// begin begins the server itself.
func (s *Server) begin() error {
	n, err := server.NewServer(options(s.dir))
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.server = n
	s.mu.Unlock()
	n.SetLoggerV2(logger{s.log, s.failed}, false, false, false)
	n.Start()
	if !n.ReadyForConnections(startTime) || !n.JetStreamEnabled() {
		return errors.New("the server of the directory does not start: the log says why")
	}
	return nil
}

// end ends the server itself, if it runs.
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
				s.log.Warn("durable: the connection to the server was lost", "err", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.log.Warn("durable: the server's connection", "err", err)
		}))
	return err
}

// startTime is long: the server looks through its files before it is ready.
const startTime = 10 * time.Minute

func options(dir string) *server.Options {
	return &server.Options{
		ServerName: "epicycle", DontListen: true, NoSigs: true, NoSystemAccount: false,
		JetStream: true, StoreDir: filepath.Join(dir, "streams"), SyncAlways: true,
		JetStreamMaxStore: 1 << 50, JetStreamMaxMemory: 1 << 30,
		MaxPayload: maxPayload, MaxPending: 256 << 20, DisableJetStreamBanner: true,
	}
}

func (s *Server) stop() {
	if s.conn != nil {
		s.conn.Close()
	}
	close(s.quit)
	if s.watched != nil {
		<-s.watched
	}
	s.end()
	if s.lock != nil {
		s.lock.release()
	}
}

const version = "epicycle durable timers, format 1\n"

// checkVersion checks the file that says which format the directory has, or makes it.
func checkVersion(file string) error {
	switch data, err := os.ReadFile(file); {
	case errors.Is(err, os.ErrNotExist):
		return writeFile(file, version)
	case err != nil:
		return err
	case string(data) != version:
		return fmt.Errorf("%w: its file %q says %.60q, and this program knows %.60q", ErrVersion, "version", data, version)
	}
	return nil
}

// writeFile writes a small file, whole or not at all.
func writeFile(name, content string) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
