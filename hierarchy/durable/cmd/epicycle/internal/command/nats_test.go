package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// natsServer starts a NATS server, and returns its URL.
func natsServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	all, err := servers.Cluster(1, func(int) string { return dir })
	require.NoError(t, err)
	alone := servers.Config{Name: "server", Dir: dir, Port: all[0].Port}
	s, err := servers.Start(alone)
	require.NoError(t, err)
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return alone.URL()
}

// count returns the value of a metric that is an int.
func (s *served) count(name string) int {
	s.t.Helper()
	n, err := strconv.Atoi(s.metric("epicycle_" + name))
	require.NoError(s.t, err)
	return n
}

// share waits until two servers own two partitions each.
func share(t *testing.T, a, b *served) {
	t.Helper()
	for begun := time.Now(); a.count("durable_partitions_owned") != 2 || b.count("durable_partitions_owned") != 2; time.Sleep(10 * time.Millisecond) {
		require.Less(t, time.Since(begun), enough)
	}
}

// Servers with one name share the timers: each answers for all of them, and fires its part, once.
func TestShared(t *testing.T) {
	url := natsServer(t)
	a := serve(t, "-nats", url, "-partitions", "4", "-replicas", "1")
	b := serve(t, "-nats", url)
	other := serve(t, "-nats", url, "-name", "other", "-partitions", "1", "-replicas", "1")
	share(t, a, b)
	const n = 40
	h := newHook(t, nil)
	var keys, ids []string
	for i := range n {
		key := fmt.Sprintf("k%02d", i)
		keys = append(keys, key)
		set := []*served{a, b}[i%2].set(key, "24h", h.URL, fmt.Sprintf(`,"value":%d`, i))
		got := []*served{b, a}[i%2].do("GET", "/v1/timers/"+key, "").json(200)
		require.Equal(t, set, got)
	}
	for _, s := range []*served{a, b} {
		require.Equal(t, keys, keysOf(s.do("GET", "/v1/timers", "").json(200)))
		require.Equal(t, keys[10:20], keysOf(s.do("GET", "/v1/timers?prefix=k1", "").json(200)))
		require.Len(t, lines(t, s.do("GET", "/v1/export", "").body), n)
		s.do("PUT", "/v1/timers/k00?if=absent", `{"in":"1h","to":{"queue":"q"}}`).problem(409)
	}
	require.Empty(t, other.do("GET", "/v1/timers", "").json(200)["timers"])
	for i, key := range keys {
		moved := []*served{b, a}[i%2].do("PATCH", "/v1/timers/"+key, `{"in":"10ms"}`).json(200)
		if id, ok := moved["id"]; ok { // else the other server has fired it already
			ids = append(ids, id.(string))
		}
	}
	var called []string
	for range n {
		called = append(called, h.next(t).header.Get("webhook-id"))
	}
	for _, key := range keys {
		a.becomes(key, gone)
		b.do("GET", "/v1/timers/"+key, "").problem(404)
	}
	require.Subset(t, called, ids)
	slices.Sort(called)
	require.Len(t, slices.Compact(called), n)
	require.Empty(t, h.calls, "once")
	require.Positive(t, a.count("durable_attempts_total"))
	require.Positive(t, b.count("durable_attempts_total"))
	require.Equal(t, n, a.count("durable_attempts_total")+b.count("durable_attempts_total"))

	a.queue("r1", "1h", "q", "")
	a.queue("r2", "1h", "q", "")
	require.Equal(t, "r1", b.do("DELETE", "/v1/timers/r1", "").json(200)["key"])
	a.do("GET", "/v1/timers/r1", "").problem(404)
	require.Equal(t, 1.0, b.do("DELETE", "/v1/timers?prefix=r", "").json(200)["removed"])
	a.do("GET", "/v1/timers/r2", "").problem(404)
}

// A server that is killed loses nothing that was acknowledged: another one has its timers.
func TestTakesOver(t *testing.T) {
	url := natsServer(t)
	flags := []string{"-nats", url, "-partitions", "4", "-replicas", "1", "-lease", "3s"}
	a, b := startProcess(t, flags...), startProcess(t, flags...)
	share(t, a.served, b.served)
	const n = 40
	h := newHook(t, nil)
	expected := make(map[string]bool)
	for i := range n {
		key := fmt.Sprintf("k%02d", i)
		b.set(key, "24h", h.URL, "")
		expected[key] = true
	}
	b.queue("taken", "0s", "q", `,"timeout":"1h"`)
	require.NoError(t, a.cmd.Process.Kill())
	<-a.code
	for key := range expected { // while nobody owns some of them, too
		b.do("PATCH", "/v1/timers/"+key, `{"in":"0s"}`).json(200)
	}
	for len(expected) > 0 {
		delete(expected, h.next(t).header.Get("epicycle-key"))
	}
	require.Equal(t, "taken", b.takeAll("q", 1)[0]["key"])
	// At once, but while its lease has ended.
	for begun := time.Now(); b.count("durable_partitions_owned") != 4 || b.do("GET", "/readyz", "").status != 200; time.Sleep(10 * time.Millisecond) {
		require.Less(t, time.Since(begun), enough)
	}
}

// A subject gets the value, and the headers that say what it is about.
func TestSubject(t *testing.T) {
	url := natsServer(t)
	conn, err := nats.Connect(url, nats.Timeout(enough))
	require.NoError(t, err)
	defer conn.Close()
	sub, err := conn.SubscribeSync("orders.>")
	require.NoError(t, err)
	require.NoError(t, conn.Flush())
	s := serve(t, "-nats", url, "-partitions", "1", "-replicas", "1")
	set := s.do("PUT", "/v1/timers/a%2Fb", `{"in":"0s","value":{"id": 17},"to":{"subject":"orders.cancel"}}`).json(200)
	m, err := sub.NextMsg(enough)
	require.NoError(t, err)
	require.Equal(t, "orders.cancel", m.Subject)
	require.Equal(t, `{"id": 17}`, string(m.Data))
	require.Equal(t, set["id"], m.Header.Get("Nats-Msg-Id"))
	require.Equal(t, "a/b", m.Header.Get("epicycle-key"))
	require.Equal(t, "1", m.Header.Get("epicycle-attempt"))
	require.Equal(t, set["due"], m.Header.Get("epicycle-due"))
	s.becomes("a%2Fb", gone)

	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(enough))
	require.NoError(t, err)
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "MAILS", Subjects: []string{"mails"}})
	require.NoError(t, err)
	s.do("PUT", "/v1/timers/m", `{"in":"0s","value":1,"to":{"subject":"mails"}}`).json(200)
	s.becomes("m", gone)
	info, err := stream.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(1), info.State.Msgs)
}

// metric returns the value of a metric. Those of durable timers have a label, which name does not have.
func (s *served) metric(name string) string {
	s.t.Helper()
	if strings.HasPrefix(name, "epicycle_durable_") {
		name += `{name="timers"}`
	}
	_, after, ok := strings.Cut(s.do("GET", "/metrics", "").body, "\n"+name+" ")
	require.True(s.t, ok, name)
	value, _, _ := strings.Cut(after, "\n")
	return value
}
