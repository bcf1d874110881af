package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// never is a grace period that no test survives.
const never = "24h"

// twoProcesses starts two servers that share four partitions, and wait for ever for what they wait for.
func twoProcesses(t *testing.T) (a, b *process, url string) {
	t.Helper()
	url = natsServer(t)
	a = startProcess(t, "-nats", url, "-partitions", "4", "-replicas", "1", "-grace", never)
	b = startProcess(t, "-nats", url, "-grace", never)
	share(t, a.served, b.served)
	return a, b, url
}

func (p *process) terminate() { require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM)) }

// owns waits until the server owns n partitions.
func (s *served) owns(n int) {
	s.t.Helper()
	for begun := time.Now(); s.count("durable_partitions_owned") != n; time.Sleep(5 * time.Millisecond) {
		require.Less(s.t, time.Since(begun), enough)
	}
}

// At SIGTERM all timers go to the other server at once, whatever this one has in progress: firings that were taken, and
// webhooks. These end there, once, though this server has begun them, and the webhook is still its own.
func TestRollingRestart(t *testing.T) {
	a, b, _ := twoProcesses(t)
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	end := sync.OnceFunc(func() { close(leave) })
	slow := newHook(t, func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave })
	t.Cleanup(end)     // before slow is closed
	for i := range 8 { // two keys for each partition, more or less
		a.set(fmt.Sprint("slow", i), "0s", slow.URL, `,"timeout":"10m"`)
		a.queue(fmt.Sprint("taken", i), "0s", "q", `,"timeout":"10m"`)
	}
	tokens := tokensOf(b.takeAll("q", 8))
	for range 8 {
		<-entered
	}
	require.Equal(t, 8, a.count("taken")+b.count("taken"))
	fast := newHook(t, nil)
	const n = 700
	due := time.Now().Add(time.Second)
	for i := range n {
		at := due.Add(time.Duration(i) * 5 * time.Millisecond).Format(time.RFC3339Nano)
		b.do("PUT", fmt.Sprint("/v1/timers/fast", i), fmt.Sprintf(`{"at":%q,"to":{"webhook":%q}}`, at, fast.URL)).json(200)
	}
	time.Sleep(time.Until(due))
	a.terminate()
	b.owns(4)
	require.Contains(t, a.do("GET", "/readyz", "").problem(503), "shutting down")
	require.NotContains(t, b.ends("q", "done", tokens[:4]...), false)
	require.NotContains(t, a.ends("q", "done", tokens[4:]...), false)
	var late []time.Duration
	for range n {
		c := fast.next(t)
		at, err := time.Parse(time.RFC3339Nano, c.header.Get("Epicycle-Due"))
		require.NoError(t, err)
		late = append(late, c.at.Sub(at))
	}
	slices.Sort(late)
	t.Logf("lateness of %d webhooks: median %v, largest %v", n, late[n/2], late[n-1])
	end()
	require.Equal(t, ok, <-a.code, a.logs)
	require.Empty(t, b.do("GET", "/v1/timers", "").json(200)["timers"])
	require.Len(t, slow.calls, 8, "none was sent again")
	require.Empty(t, fast.calls)
}

func tokensOf(firings []map[string]any) (tokens []any) {
	for _, f := range firings {
		tokens = append(tokens, f["token"])
	}
	return tokens
}

// What was taken holds up no end of a server with a directory, and is done at the next one. What is not done comes again
// when its timeout has passed, counted from the beginning.
func TestTakenAcrossARestart(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, "-dir", dir, "-grace", never, "-max-attempts", "2")
	p.queue("done", "0s", "q", `,"timeout":"10m"`)
	p.queue("failed", "0s", "q", `,"timeout":"10m"`)
	p.queue("late", "0s", "late", `,"timeout":"1s"`)
	tokens := tokensOf(p.takeSorted("q", 2))
	late := p.takeAll("late", 1)[0]["token"]
	p.terminate()
	require.Equal(t, ok, <-p.code, p.logs)
	p = startProcess(t, "-dir", dir, "-grace", never, "-max-attempts", "2")
	require.Equal(t, "running", p.do("GET", "/v1/timers/done", "").json(200)["state"])
	require.Equal(t, []bool{true}, p.ends("q", "done", tokens[0]))
	require.Equal(t, []bool{true}, p.ends("q", "fail", tokens[1]))
	require.Equal(t, []bool{false, false}, p.ends("q", "done", tokens...))
	require.Equal(t, 2.0, p.takeAll("q", 1)[0]["attempt"])
	require.Equal(t, 2.0, p.takeAll("late", 1)[0]["attempt"])
	require.Equal(t, []bool{false}, p.ends("late", "done", late))
}

// However often one of two servers is restarted while workers take: each firing is taken once, and done once.
func TestRestartsUnderLoad(t *testing.T) {
	a, b, url := twoProcesses(t)
	var servers [2]atomic.Pointer[process]
	servers[0].Store(a)
	servers[1].Store(b)
	var set, done atomic.Int64
	var seen sync.Map // by key
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprintf("%d-%d", c, i)
				body := `{"in":"10ms","to":{"queue":"q"},"timeout":"10m"}`
				for try := c; ; try++ { // a set that had no answer may be set again, and be taken again
					status, err := servers[try%2].Load().try("PUT", "/v1/timers/"+key+"?if=absent", body)
					time.Sleep(time.Millisecond)
					if err == nil && (status == 200 || status == 409) {
						set.Add(1)
						break
					}
				}
			}
		})
		clients.Go(func() {
			for try := c; done.Load() < set.Load() || !closed(stop); try++ {
				var taken struct {
					Firings []struct {
						Key, Token, ID string
						Attempt        int
					}
				}
				if !servers[try%2].Load().post("/v1/queues/q/take", `{"max":10,"wait":"50ms"}`, &taken) {
					time.Sleep(time.Millisecond)
					continue
				}
				for _, f := range taken.Firings {
					if id, again := seen.LoadOrStore(f.Key, f.ID); again || f.Attempt != 1 {
						t.Errorf("%s is taken again, attempt %d, %v %v", f.Key, f.Attempt, id, f.ID)
					}
					var ended struct {
						Results []struct {
							OK    bool
							Error string
						}
					}
					for other := try; !servers[other%2].Load().post("/v1/queues/q/done", fmt.Sprintf(`{"tokens":[%q]}`, f.Token), &ended); other++ {
						time.Sleep(time.Millisecond)
					}
					if !ended.Results[0].OK {
						t.Errorf("%s was not done: %s", f.Key, ended.Results[0].Error)
					}
					done.Add(1)
				}
			}
		})
	}
	for i := range *kills {
		old := servers[i%2].Load()
		old.terminate()
		require.Equal(t, ok, <-old.code, old.logs)
		servers[(i+1)%2].Load().owns(4)
		servers[i%2].Store(startProcess(t, "-nats", url, "-grace", never))
		share(t, servers[0].Load().served, servers[1].Load().served)
	}
	close(stop)
	clients.Wait()
	require.Equal(t, set.Load(), done.Load())
	t.Logf("%d firings", done.Load())
}

// post sends a request, and reports whether there was an answer.
func (s *served) post(path, body string, answer any) bool {
	resp, err := testClient.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(answer) == nil
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
