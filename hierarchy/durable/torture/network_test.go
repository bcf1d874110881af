//go:build linux

package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// What a worker has written is looked through once.
func TestWrote(t *testing.T) {
	m := &member{path: filepath.Join(t.TempDir(), "records")}
	require.False(t, m.wrote(judge.IsFire))
	f, err := os.Create(m.path)
	require.NoError(t, err)
	defer f.Close()
	w := recordTo(f, mono)
	for _, kind := range []string{judge.IsCall, judge.IsFire} {
		require.NoError(t, w.Write(judge.Record{Kind: kind}))
		require.True(t, m.wrote(kind))
	}
	require.True(t, m.wrote(judge.IsCall))
	require.False(t, m.wrote(judge.IsEnd))
}

// echo is a server behind a link.
type echo struct {
	*testing.T
	*link
}

func newEcho(t *testing.T) echo {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	l, err := newLink(server.Addr().(*net.TCPAddr).Port)
	require.NoError(t, err)
	t.Cleanup(l.close)
	return echo{t, l}
}

func (e echo) dial() net.Conn {
	c, err := net.Dial("tcp", e.listener.Addr().String())
	require.NoError(e, err)
	e.Cleanup(func() { c.Close() })
	return c
}

func say(c net.Conn) error {
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 5))
	return err
}

// A link passes data, holds it, and is cut.
func TestLink(t *testing.T) {
	e := newEcho(t)
	c := e.dial()
	require.NoError(t, say(c))
	for _, fate := range []int{holds, mutes, deafs} {
		heal := e.spoil(fate)
		heard := make(chan error, 1)
		go func() { heard <- say(c) }()
		select {
		case err := <-heard:
			t.Fatal("it was not held:", err)
		case <-time.After(50 * time.Millisecond):
		}
		heal()
		require.NoError(t, <-heard)
	}

	// What is held in one direction passes in the other.
	heal := e.spoil(mutes)
	fate, _ := e.state(true)
	require.Equal(t, passes, fate)
	fate, _ = e.state(false)
	require.Equal(t, mutes, fate)
	heal()

	heal = e.spoil(cuts)
	require.Error(t, say(c))
	require.Error(t, say(e.dial()))
	heal()
	require.NoError(t, say(e.dial()))
}
