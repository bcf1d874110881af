package command

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is listened on decides, and not its name: a file may give the name localhost to any address.
func TestLoopbackIsAnAddress(t *testing.T) {
	for address, loopback := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"10.0.0.1": false, "0.0.0.0": false, "::": false, "": false,
	} {
		s := &server{listen: "localhost:8421"}
		err := s.mayListen(&net.TCPAddr{IP: net.ParseIP(address), Port: 8421})
		require.Equal(t, loopback, err == nil, address)
	}
	s := serve(t, "-listen", "localhost:0")
	require.Equal(t, 200, s.do("GET", "/readyz", "").status)
}

// A new certificate is used after SIGHUP, and one that can't be read leaves the old one.
func TestNewCertificate(t *testing.T) {
	cert, key, old := certificate(t)
	logs := newLogs()
	f, err := (&server{listen: "127.0.0.1:0", cert: cert, key: key, maxConns: 1}).front(slog.New(slog.NewTextHandler(logs, nil)), nil)
	require.NoError(t, err)
	defer f.close()
	go func() {
		for {
			c, err := f.listener.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).Handshake()
			c.Close()
		}
	}()
	dial := func(config *tls.Config) error {
		c, err := tls.Dial("tcp", f.address(), config)
		if err == nil {
			c.Close()
		}
		return err
	}
	before, after := &tls.Config{RootCAs: old}, new(tls.Config)
	require.NoError(t, dial(before))
	newCert, newKey, pool := certificate(t)
	after.RootCAs = pool
	replace := func(path, from string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	replace(cert, newCert)
	f.reload() // the certificate is new, and its key is not there yet
	require.NoError(t, dial(before))
	require.Contains(t, logs.String(), "flag=-tls-cert")
	replace(key, newKey)
	f.reload()
	require.NoError(t, dial(after))
	require.Error(t, dial(before))
}

// The unit of systemd can be reloaded: it sends SIGHUP, and has the server read files that are not copied at its start.
func TestUnit(t *testing.T) {
	text, err := os.ReadFile("../../deploy/epicycle.service")
	require.NoError(t, err)
	unit := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			unit[name] = value
		}
	}
	require.Equal(t, "/bin/kill -HUP $MAINPID", unit["ExecReload"])
	require.Contains(t, unit["ExecStart"], "-tokens /etc/epicycle/tokens")
	require.NotContains(t, unit, "LoadCredential")
	require.NotContains(t, unit, "DynamicUser", "the files belong to a group that must be there before")
}

// Requests in progress have what is left of the grace, and never less than requestTime, even if none is left.
func TestTimeOfRequestsInProgress(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Second, requestTime, time.Hour} {
		ctx, cancel := context.WithTimeout(t.Context(), grace)
		defer cancel()
		before := time.Now()
		ending, done := atLeast(ctx, requestTime)
		defer done()
		require.NoError(t, ending.Err())
		deadline, _ := ending.Deadline()
		require.False(t, deadline.Before(before.Add(requestTime)))
		if was, _ := ctx.Deadline(); grace > requestTime {
			require.Equal(t, was, deadline)
		}
	}
}
