//go:build linux

package main

import (
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a worker has written is read, but for a line that was cut off.
func TestRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	w := &recorder{file: f}
	want := []record{
		{Kind: isCall, Time: 1, Caller: 3, Serial: 4, Op: opSet, Key: "k", Value: "v", In: 5, Limit: 6},
		{Kind: isFire, Time: 1, ID: "id", Attempt: 2, Epoch: 3, Due: 4, Over: true},
	}
	for _, r := range want {
		w.write(r)
	}
	_, err = f.WriteString(`{"k":"en`)
	require.NoError(t, err)
	all, read, err := readRecords(path, 0)
	require.NoError(t, err)
	require.Equal(t, want, all)
	m := &member{path: path}
	require.True(t, m.wrote(isFire))
	require.False(t, m.wrote(isEnd))
	require.Equal(t, read, m.read)

	_, err = f.WriteString("\n")
	require.NoError(t, err)
	_, _, err = readRecords(path, read)
	require.ErrorContains(t, err, `{\"k\":\"en`)
	all, _, err = readRecords(path+"x", 0)
	require.NoError(t, err)
	require.Empty(t, all)
}

// A worker's records are joined: calls with their answers, and firings with their ends.
func TestHistory(t *testing.T) {
	var h history
	h.add(1, []record{
		{Kind: isCall, Time: 1, Serial: 1}, {Kind: isCall, Time: 2, Serial: 2}, {Kind: isCall, Time: 3, Serial: 3},
		{Kind: isAnswer, Serial: 2, Result: took}, {Kind: isAnswer, Serial: 1, Result: refused},
		{Kind: isFire, Time: 4, ID: "a", Attempt: 1}, {Kind: isFire, Time: 5, ID: "a", Attempt: 2}, {Kind: isFire, Time: 6, ID: "b", Attempt: 1},
		{Kind: isClock, Time: 1, Offset: 5}, {Kind: isSet, Time: 2}, {Kind: isClock, Time: 7, Offset: 6}, {Kind: isSet, Time: 9},
		{Kind: isOwned, Partition: 3, Epoch: 4, Time: 8}, {Kind: isClock, Time: 11, Offset: 7},
		{Kind: isEnd, ID: "a", Attempt: 1}, {Kind: isEnd, ID: "a", Attempt: 2, OK: true}, {Kind: isFailed, Error: "no"},
	})
	h.sort()
	var results []string
	for i := range h.calls {
		results = append(results, h.calls[i].result())
	}
	require.Equal(t, []string{refused, took, unknown}, results)
	var done []bool
	for i := range h.fires {
		done = append(done, h.fires[i].done())
	}
	require.Equal(t, []bool{false, true, false}, done)
	require.Equal(t, []string{"no"}, h.fails)
	require.Equal(t, wallClock{{5, 1, 2}, {6, 7, 9}, {7, 11, math.MaxInt64}}, h.clocks[1])
	require.Equal(t, []*tenure{{partition: 3, worker: 1, epoch: 4, to: 8}}, h.tenures)
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
	heal := e.spoil(delays, 20*time.Millisecond)
	begun := time.Now()
	require.NoError(t, say(c))
	require.GreaterOrEqual(t, time.Since(begun), 40*time.Millisecond)
	heal()

	for _, fate := range []int{holds, mutes, deafs} {
		heal = e.spoil(fate, 0)
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
	heal = e.spoil(mutes, 0)
	fate, _, _ := e.state(true)
	require.Equal(t, passes, fate)
	fate, _, _ = e.state(false)
	require.Equal(t, mutes, fate)
	heal()

	heal = e.spoil(cuts, 0)
	require.Error(t, say(c))
	require.Error(t, say(e.dial()))
	heal()
	require.NoError(t, say(e.dial()))
}
