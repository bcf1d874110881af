package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// TestServe checks that the page is served until the context ends, and that nothing is left
// then, even if a browser has a request open.
func TestServe(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, out := page()
	ctx, interrupt := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- serve(ctx, s, at, "wheels.example.com:0") }()

	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(address(at.Addr()))
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NotEmpty(t, body)
	require.Contains(t, string(body), "<title>Tour – Timing wheel</title>")
	require.Equal(t, http.StatusOK, askedAs(t, client, at, "wheels.example.com"))
	require.Equal(t, http.StatusForbidden, askedAs(t, client, at, "evil.example"))
	open, err := client.Get(address(at.Addr()) + "events")
	require.NoError(t, err)
	defer open.Body.Close()

	interrupt()
	require.NoError(t, <-served)
	require.Contains(t, out.String(), address(at.Addr()))
	require.Contains(t, out.String(), "the wheel is stopped")
	_, err = client.Get(address(at.Addr()))
	require.Error(t, err)
}

// askedAs is the status of a request that came by that name.
func askedAs(t *testing.T, client *http.Client, at net.Listener, host string) int {
	r, err := http.NewRequest(http.MethodGet, address(at.Addr())+"json", nil)
	require.NoError(t, err)
	r.Host = host
	answer, err := client.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// What was asked for may be an address, or none.
func TestHosts(t *testing.T) {
	for _, wanted := range []string{"", ":0", "127.0.0.1:1", "[::1]:1", "[fe80::1%eth0]:1", "localhost:http", "my_machine.:1"} {
		require.NotPanics(t, func() { hosts(wanted) }, wanted)
	}
}

// TestInterrupt checks that Ctrl-C ends the live view without an error.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process on Windows can't send itself Ctrl-C")
	}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	shown, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- live(terminal.New(out, os.Getenv), at, "127.0.0.1:0")
		out.Close()
	}()
	var last string
	for lines := bufio.NewScanner(shown); lines.Scan(); {
		last = lines.Text()
		if strings.Contains(last, "Ctrl-C") {
			require.NoError(t, self.Signal(os.Interrupt))
		}
	}
	require.NoError(t, <-ended)
	require.Contains(t, last, "the wheel is stopped")
}

// TestServeFails checks that the error of a broken listener is returned.
func TestServeFails(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, at.Close())
	s, _ := page()
	require.Error(t, serve(t.Context(), s, at, ":0"))
}

func TestAddress(t *testing.T) {
	for want, at := range map[string]net.Addr{
		"http://127.0.0.1:8420/": &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8420},
		"http://[::1]:8420/":     &net.TCPAddr{IP: net.IPv6loopback, Port: 8420},
		"http://localhost:8420/": &net.TCPAddr{IP: net.IPv6unspecified, Port: 8420},
		"http://localhost:80/":   &net.TCPAddr{IP: net.IPv4zero, Port: 80},
		"http://elsewhere/":      &net.UnixAddr{Name: "elsewhere"},
	} {
		require.Equal(t, want, address(at))
	}
}

// TestLively checks that timers fire, move, are removed and are set, while their number
// stays about the same.
func TestLively(t *testing.T) {
	const n = 2000
	w, err := newLively(n)
	require.NoError(t, err)
	defer w.Stop()
	require.Eventually(t, func() bool {
		st := w.Stats()
		return st.Fired > 100 && st.Moved > 100 && st.Stopped > 100
	}, 20*time.Second, 10*time.Millisecond)
	require.InDelta(t, n+1, w.Len(), n/10)
}
