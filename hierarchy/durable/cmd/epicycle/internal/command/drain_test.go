package command

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that writes a body which is far too large before it reads gets the answer, not a broken connection.
func TestTooLargeForAClientThatDoesNotRead(t *testing.T) {
	s := serve(t)
	const size = 6 << 20
	body := strings.Repeat("x", size)
	for name, request := range map[string]string{
		"with a length": fmt.Sprintf("PUT /v1/timers/k HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size, body),
		"in chunks":     fmt.Sprintf("PUT /v1/timers/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, body),
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(enough)))
		_, err = io.WriteString(conn, request)
		require.NoError(t, err, name)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, name)
		resp.Body.Close()
		require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode, name)
	}
}
