package servers

import (
	"errors"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Local is a server that only this process can connect to, and a connection.
type Local struct {
	server *server.Server
	conn   *nats.Conn
}

// OpenLocal starts a server that has its files in a directory. It syncs before each answer, and its largest message is
// that of all servers here.
func OpenLocal(dir string) (*Local, error) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: dir,
		SyncAlways: true, MaxPayload: maxPayload, DisableJetStreamBanner: true})
	if err != nil {
		return nil, err
	}
	s.Start()
	l := &Local{server: s}
	if !s.ReadyForConnections(time.Minute) {
		l.Close()
		return nil, errors.New("the server does not start")
	}
	if l.conn, err = nats.Connect("", nats.InProcessServer(l), nats.Timeout(time.Minute), nats.MaxReconnects(-1)); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Conn returns a connection, which Close ends.
func (l *Local) Conn() *nats.Conn { return l.conn }

// InProcessConn is for nats.InProcessServer: further connections.
func (l *Local) InProcessConn() (net.Conn, error) { return l.server.InProcessConn() }

// Close ends the server.
func (l *Local) Close() {
	if l.conn != nil {
		l.conn.Close()
	}
	l.server.Shutdown()
	l.server.WaitForShutdown()
}
