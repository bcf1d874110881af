package durable_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// openUntil opens timers for a second, or for longer if the error has no such text, since the servers are slow. It returns
// the error and what was logged.
func openUntil(t *testing.T, text, urls string, handle func(context.Context, firing) error, opts ...nats.Option) (said string, err error) {
	for limit := time.Second; ; limit *= 4 {
		said, err = openFor(t, limit, urls, handle, opts...)
		if limit > tooLong || strings.Contains(strings.ToLower(err.Error()), text) {
			return said, err
		}
	}
}

// openFor opens timers for so long, and returns the error and what was logged.
func openFor(t *testing.T, limit time.Duration, urls string, handle func(context.Context, firing) error, opts ...nats.Option) (said string, err error) {
	nc, err := nats.Connect(urls, append(opts, connectsLate, nats.RetryOnFailedConnect(true), nats.ReconnectWait(50*time.Millisecond), nats.MaxReconnects(-1))...)
	require.NoError(t, err)
	defer nc.Close()
	var l logged
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	_, err = durable.Open(ctx, durable.Config[string, string]{Conn: nc, Handle: handle, Logger: slog.New(slog.NewTextHandler(&l, nil))})
	require.Error(t, err)
	return l.String(), err
}

// handles are those of a worker and of a caller.
var handles = map[string]func(context.Context, firing) error{"worker": new(record).handle, "caller": nil}

// An error of Open says that there is no connection, and where to, and no password. nats.go keeps no error of an attempt
// to connect.
func TestOpenWithoutAServer(t *testing.T) {
	for who, handle := range handles {
		t.Run(who, func(t *testing.T) {
			said, err := openFor(t, time.Second, "nats://worker:secret@127.0.0.1:1,nats://hidden@127.0.0.1:2", handle)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Regexp(t, `^durable: context deadline exceeded: the connection to nats://127.0.0.1:., nats://127.0.0.1:. is reconnecting$`, err.Error())
			require.Contains(t, said, "nats://127.0.0.1:1")
			requireNoSecrets(t, err.Error()+said)
		})
	}
}

func requireNoSecrets(t *testing.T, text string) {
	for _, secret := range []string{"secret", "hidden"} {
		require.NotContains(t, text, secret)
	}
}

// lockedServer starts a server that wants a password, and lets limited do little.
func lockedServer(t *testing.T) (host string) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), AuthTimeout: tooLong.Seconds(),
		Users: []*server.User{
			{Username: "worker", Password: "right"},
			{Username: "limited", Password: "right", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"a"}}}},
		}})
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(time.Minute))
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	u, err := url.Parse(s.ClientURL())
	require.NoError(t, err)
	return u.Host
}

// A wrong password is said in the servers' words.
func TestOpenWithAWrongPassword(t *testing.T) {
	host := lockedServer(t)
	for who, handle := range handles {
		t.Run(who, func(t *testing.T) {
			said, err := openFor(t, tooLong, "nats://worker:secret@"+host, handle)
			require.Contains(t, strings.ToLower(err.Error()), "the connection to nats://"+host+" is closed: nats: authorization violation")
			require.NotErrorIs(t, err, context.DeadlineExceeded) // it will never be right
			requireNoSecrets(t, err.Error()+said)

			said, err = openUntil(t, "authorization violation", "nats://worker:secret@"+host, handle, nats.IgnoreAuthErrorAbort())
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Contains(t, strings.ToLower(err.Error()), "the connection to nats://"+host+" is reconnecting: nats: authorization violation")
			requireNoSecrets(t, err.Error()+said)
		})
	}
}

// If a permission is missing, the error says which.
func TestOpenWithoutRights(t *testing.T) {
	host := lockedServer(t)
	for who, handle := range handles {
		t.Run(who, func(t *testing.T) {
			_, err := openUntil(t, "permissions violation", "nats://limited:right@"+host, handle, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, nats.ErrPermissionViolation)
			require.Contains(t, err.Error(), `$JS.API.STREAM.`)
		})
	}
}

// A call that has no answer since the connection is lost says so.
func TestCallWithoutAConnection(t *testing.T) {
	urls, all := natsServers(t, 1)
	owner := openShared(t, connect(t, urls), new(record), time.Minute)
	require.NoError(t, owner.Shutdown(t.Context()))
	nc := connect(t, urls)
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: nc})
	require.NoError(t, err)
	all[0].Shutdown()
	all[0].WaitForShutdown()
	require.Eventually(t, func() bool { return !nc.IsConnected() }, time.Minute, time.Millisecond)
	waits := make(chan error)
	go func() { waits <- errOf(w.Set(t.Context(), "a", "", time.Hour)) }()
	nc.Close()
	err = <-waits
	require.True(t, errors.Is(err, durable.ErrUnavailable), err)
	require.Contains(t, err.Error(), "the connection to "+strings.Trim(urls, ",")+" is closed")
	require.NoError(t, w.Close())
}
