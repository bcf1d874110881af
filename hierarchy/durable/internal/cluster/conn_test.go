package cluster

import (
	"log/slog"
	"net"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// A password that is refused twice closes the connection for good. That is logged once, with the reason, which the
// errors of calls have, too, and Stats say since when.
func TestConnectionIsClosedForGood(t *testing.T) {
	w := newWorld(t)
	opts := natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true, Username: "user", Password: "old",
		AuthTimeout: patience.Seconds()}
	n, err := natsserver.NewServer(opts.Clone())
	w.NoError(err)
	n.Start()
	defer n.Shutdown()
	w.True(n.ReadyForConnections(patience))
	told := make(chan bool, 1)
	nc, err := nats.Connect(n.ClientURL(), nats.UserInfo("user", "old"), nats.MaxReconnects(-1), nats.Timeout(patience),
		nats.ReconnectWait(time.Millisecond), nats.ClosedHandler(func(*nats.Conn) { told <- true }))
	w.NoError(err)
	p := w.process()
	p.conn.Close()
	p.conn = nc
	var logged text
	p.logger = slog.New(slog.NewTextHandler(&logged, nil))
	w.NoError(p.open(t.Context()))
	p.store.Cut(true) // its table goes by the same connection
	begun := time.Now()
	changed := opts.Clone()
	changed.Port = n.Addr().(*net.TCPAddr).Port
	changed.Password = "new"
	w.NoError(n.ReloadOptions(changed))
	<-told // the user's own handler
	w.eventually("owned no longer", func() bool { return p.owns() == 0 })
	_, _, err = p.do(frame.Set, "key1", "", time.Hour)
	w.ErrorIs(err, partition.ErrUnavailable)
	w.ErrorIs(err, nats.ErrAuthorization)
	w.eventually("told", func() bool {
		st, _, _ := p.Stats(1)
		return logged.count("level=ERROR") == 1 && st.Unavailable.After(begun)
	})
	w.Equal(1, logged.count("is closed for good"))
	w.Equal(1, logged.count("Authorization Violation"))
}

// A connection that is closed after the end is no news.
func TestConnectionIsClosedAfterTheEnd(t *testing.T) {
	w := newWorld(t)
	p := w.process()
	var logged text
	p.logger = slog.New(slog.NewTextHandler(&logged, nil))
	w.NoError(p.open(t.Context()))
	p.close()
	time.Sleep(10 * time.Millisecond)
	w.Zero(logged.count("closed for good"))
}
