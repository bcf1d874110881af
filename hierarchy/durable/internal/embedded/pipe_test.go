package embedded

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A server that reads nothing holds up no writer, until very much waits. Then Close, or the server's end, ends the
// wait.
func TestServerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, end := range []func(p *pipe, server net.Conn){
			func(p *pipe, _ net.Conn) { p.Close() },
			func(_ *pipe, server net.Conn) { server.Close() },
		} {
			client, server := net.Pipe()
			p := newPipe(client)
			part := make([]byte, pipeSize/2)
			for range 3 { // one of them is on its way to the server
				n, err := p.Write(part)
				require.NoError(t, err)
				require.Equal(t, len(part), n)
				synctest.Wait()
			}
			failed := make(chan error, 1)
			go func() {
				_, err := p.Write(part)
				failed <- err
			}()
			synctest.Wait()
			require.Empty(t, failed)
			end(p, server)
			require.Error(t, <-failed)
			_, err := p.Write(part)
			require.Error(t, err)
			p.Close()
			server.Close()
		}
	})
}

// What is written comes to the server in order.
func TestPipeKeepsTheOrder(t *testing.T) {
	client, server := net.Pipe()
	p := newPipe(client)
	var want bytes.Buffer
	for i := range 1000 {
		part := bytes.Repeat([]byte{byte(i)}, i)
		want.Write(part)
		_, err := p.Write(part)
		require.NoError(t, err)
	}
	got := make([]byte, want.Len())
	_, err := io.ReadFull(server, got)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want.Bytes(), got))
	require.NoError(t, p.Close())
	_, err = server.Read(got)
	require.ErrorIs(t, err, io.EOF)
}
