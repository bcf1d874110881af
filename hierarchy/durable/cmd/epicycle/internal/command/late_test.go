package command

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// While the NATS servers are gone, each call that needs them is answered with 503 within its time, and says that it may
// have taken hold.
func TestServersGone(t *testing.T) {
	dir := t.TempDir()
	all, err := servers.Cluster(1, func(int) string { return dir })
	require.NoError(t, err)
	alone := servers.Config{Name: "server", Dir: dir, Port: all[0].Port}
	natsd, err := servers.Start(alone)
	require.NoError(t, err)
	end := func() {
		natsd.Shutdown()
		natsd.WaitForShutdown()
	}
	s := serve(t, "-nats", alone.URL(), "-partitions", "2", "-replicas", "1")
	s.do("PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`).json(200)
	exported := s.do("GET", "/v1/export", "").body
	end()
	late := *s
	late.head = http.Header{"Epicycle-Timeout": {"200ms"}}
	for _, c := range [][3]string{
		{"PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`}, {"PATCH", "/v1/timers/k", `{"in":"2h"}`}, {"DELETE", "/v1/timers/k", ""},
		{"POST", "/v1/batch", `{"operations":[{"op":"remove","key":"k"}]}`}, {"DELETE", "/v1/timers?prefix=k", ""}, {"POST", "/v1/import", exported},
	} {
		require.Contains(t, late.do(c[0], c[1], c[2]).problem(503), "may have taken hold", "%s %s", c[0], c[1])
	}
	natsd, err = servers.Start(alone)
	require.NoError(t, err)
	t.Cleanup(end)
	for begun := time.Now(); late.do("PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`).status != 200; {
		require.Less(t, time.Since(begun), enough)
	}
}
