package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The answer of take has time after the wait, however little a server gives to other answers.
func TestTakeMayWaitForLongerThanAnAnswerMay(t *testing.T) {
	server := httptest.NewUnstartedServer(newAPI(t))
	server.Config.WriteTimeout = time.Millisecond
	server.Start()
	defer server.Close()
	resp, err := http.Post(server.URL+"/v1/queues/q/take", "application/json", strings.NewReader(`{"wait":"20ms"}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"firings":[]}`, string(b))
}
