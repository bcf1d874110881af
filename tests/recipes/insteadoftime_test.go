package recipes

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/context"
	"github.com/epicycle-go/epicycle/compat/time"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

// within gives every request a deadline.
func within(d time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		next.ServeHTTP(rw, r.WithContext(ctx))
	})
}

// serve closes a connection that sends nothing for a time.
func serve(c net.Conn, idle time.Duration, handle func([]byte)) {
	timer := time.AfterFunc(idle, func() { c.Close() })
	defer timer.Stop()
	buffer := make([]byte, 4096)
	for {
		n, err := c.Read(buffer)
		if err != nil {
			return
		}
		timer.Reset(idle)
		handle(buffer[:n])
	}
}

func Example_insteadOfTime() {
	slow := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		http.Error(rw, r.Context().Err().Error(), http.StatusGatewayTimeout)
	})
	answer := httptest.NewRecorder()
	within(time.Millisecond, slow).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	fmt.Print(answer.Code, " ", answer.Body)

	here, there := net.Pipe()
	defer there.Close()
	serve(&greeted{here, "hello"}, 50*time.Millisecond, func(b []byte) { fmt.Println(string(b)) })
	fmt.Println("closed")
	// Output:
	// 504 context deadline exceeded
	// hello
	// closed
}

// greeted is a connection that has text to read at once, and then what comes.
type greeted struct {
	net.Conn
	text string
}

func (c *greeted) Read(p []byte) (int, error) {
	if n := copy(p, c.text); n > 0 {
		c.text = c.text[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

func TestViewOfTheProcess(t *testing.T) {
	<-time.NewTimer(time.Millisecond).C
	mux := http.NewServeMux()
	mux.Handle("/debug/wheel/", view.Handler(time.Wheel()))
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/debug/wheel/", nil))
	require.Equal(t, http.StatusOK, answer.Code)
}
