package command

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// limitFiles has the system refuse that the files of a process grow beyond a size, as a full disk does.
func (p *process) limitFiles(most uint64) {
	p.t.Helper()
	limit := unix.Rlimit{Cur: most, Max: 1 << 50}
	require.NoError(p.t, unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
}

// On a full disk nothing is acknowledged that is not there, each request is answered in its time, the server says what is
// wrong, and goes on when there is room.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, "-dir", dir)
	p.queue("before", "1h", "q", "")
	p.limitFiles(4 << 10)
	late := *p.served
	late.head = http.Header{"Epicycle-Timeout": {"200ms"}}
	acknowledged := []string{"before"}
	begun := time.Now()
	for n := 0; p.do("GET", "/readyz", "").status != http.StatusServiceUnavailable; n++ { // a request may be slow before, too
		key := fmt.Sprintf("k%03d", n)
		if put := late.do(http.MethodPut, "/v1/timers/"+key, `{"in":"1h","to":{"queue":"q"}}`); put.status == http.StatusOK {
			acknowledged = append(acknowledged, key)
		} else {
			require.Contains(t, put.problem(http.StatusServiceUnavailable), "may have taken hold")
		}
		require.Less(t, n, 1000, "the disk is full")
		require.Less(t, time.Since(begun), 3*enough)
	}
	require.Equal(t, 200, p.do("GET", "/healthz", "").status)
	p.limitFiles(1 << 40)
	for begun := time.Now(); ; {
		if status, err := p.tryWithin(time.Second, http.MethodPut, "/v1/timers/after", `{"in":"1h","to":{"queue":"q"}}`); err == nil && status == http.StatusOK {
			break
		}
		require.Less(t, time.Since(begun), enough)
	}
	acknowledged = append(acknowledged, "after")
	require.Subset(t, keysOf(p.do("GET", "/v1/timers?limit=1000", "").json(200)), acknowledged)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, ok, <-p.code, p.logs)
	p = startProcess(t, "-dir", dir)
	require.Subset(t, keysOf(p.do("GET", "/v1/timers?limit=1000", "").json(200)), acknowledged)
}
