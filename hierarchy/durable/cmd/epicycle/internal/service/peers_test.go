package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// pair opens two services that share two partitions, one each.
func pair(t *testing.T) (a, b *Service) {
	t.Helper()
	all, err := servers.Cluster(1, func(int) string { return t.TempDir() })
	require.NoError(t, err)
	alone := servers.Config{Name: "server", Dir: t.TempDir(), Port: all[0].Port}
	server, err := servers.Start(alone)
	require.NoError(t, err)
	t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
	one := func() *Service {
		conn, err := nats.Connect(alone.URL())
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		s, err := Open(t.Context(), Config{
			Durable: durable.Config[string, task.Task]{
				Conn: conn, Partitions: 2, Replicas: 1, Logger: slog.New(slog.DiscardHandler),
			},
			Sender: web.NewSender(&web.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, nil, 1, "test"), PerHost: 1, Total: 1,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
		require.NoError(t, conn.Flush()) // the other one can ask it from now on
		return s
	}
	a, b = one(), one()
	eventually(t, func() bool { return a.Stats().Owned == 1 && b.Stats().Owned == 1 })
	return a, b
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	require.Eventually(t, f, time.Minute, time.Millisecond)
}

// push sets timers that are due until n of them wait at s.
func push(t *testing.T, s *Service, queue string, n int) {
	t.Helper()
	for i := 0; s.Lanes().Queues[queue] < n; i++ {
		to := task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: queue}, Timeout: time.Hour}
		_, err := s.Set(t.Context(), fmt.Sprintf("%s-%d", queue, i), to, 0)
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
	}
}

// What a server has taken from another one, for a worker that has gone, is due again there at once.
func TestFiringsOfAnotherServerAreGivenBack(t *testing.T) {
	a, b := pair(t)
	push(t, a, "q", 1)
	b.takeHere("q", 100, 1<<20, "") // its own
	got := b.TakeWithin(t.Context(), "q", 100, time.Hour, "")
	require.NotEmpty(t, got)
	require.Equal(t, 1, got[0].Attempt)
	for range 20 { // more often than an attempt may fail
		b.GiveBack("q", got)
		got = b.TakeWithin(t.Context(), "q", 100, time.Hour, "")
		require.Equal(t, 1, got[0].Attempt, "it does not count")
	}
	b.GiveBack("q", got)
	again := a.TakeWithin(t.Context(), "q", 100, time.Hour, "")
	require.Equal(t, 1, again[0].Attempt)
	require.Equal(t, []error{nil}, b.End(t.Context(), "q", []string{again[0].Token}, nil, ""))
}

// A server that has asked and does not come any more holds up nobody.
func TestQuestionsAreForgotten(t *testing.T) {
	a, b := pair(t)
	asked := func() int {
		a.peers.mu.Lock()
		defer a.peers.mu.Unlock()
		return len(a.peers.asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan int)
	go func() { got <- len(b.TakeWithin(ctx, "q", 1, time.Hour, "")) }()
	eventually(t, func() bool { return asked() == 1 })
	cancel()
	require.Zero(t, <-got)
	eventually(t, func() bool { return asked() == 0 })

	// One that asks and never takes.
	sub, err := b.conn.SubscribeSync(b.conn.NewInbox())
	require.NoError(t, err)
	q := &asking{peers: b.peers, sub: sub, question: request{From: b.peers.id, Question: "lost", Queue: "q"}}
	q.send(opHas, time.Hour)
	eventually(t, func() bool { return asked() == 1 })
	go func() { got <- len(a.TakeWithin(t.Context(), "q", 1, time.Hour, "")) }()
	push(t, a, "other", 1)
	d, _, _ := a.queues.Pop("other", "") // its key is of a partition of a
	time.Sleep(50 * time.Millisecond)    // both wait by now, the lost one first. If not, there is nothing to pass on
	to := task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Hour}
	_, err = a.Set(t.Context(), d.Key, to, 0)
	require.NoError(t, err)
	require.Equal(t, 1, <-got)
	require.NoError(t, sub.Unsubscribe())
}

// A server that offers firings and hands out none is not asked for ever.
func TestOffersOfNothing(t *testing.T) {
	a, b := pair(t)
	var asked atomic.Int32
	sub, err := a.conn.Subscribe("epicycle.timers.queue", func(m *nats.Msg) {
		if asked.Add(1); m.Reply != "" {
			_ = m.Respond([]byte(`{"server":"AAAAAAAAAAAA","has":true}`))
		}
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, sub.Unsubscribe()) }()
	require.NoError(t, a.conn.Flush())
	require.Empty(t, b.TakeWithin(t.Context(), "q", 1, 0, ""))
	require.LessOrEqual(t, asked.Load(), int32(1), "or the other one has answered before that it has none")

	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan int)
	go func() { got <- len(b.TakeWithin(ctx, "q", 1, time.Hour, "")) }()
	eventually(t, func() bool { return asked.Load() > 3 })
	cancel()
	require.Zero(t, <-got)
}

// A worker that waits for less than other servers need to answer gets what they have.
func TestShortWait(t *testing.T) {
	a, b := pair(t)
	push(t, a, "q", 5)
	b.takeHere("q", 100, 1<<20, "") // its own
	for range 5 {
		require.Len(t, b.TakeWithin(t.Context(), "q", 1, time.Microsecond, ""), 1)
	}
}

// A firing has no more bytes in JSON than are counted.
func TestSizeOf(t *testing.T) {
	for _, key := range []string{"", "k", strings.Repeat("<", 1024), strings.Repeat("\x01", 1024), strings.Repeat("\"\\", 512), strings.Repeat("ü", 512)} {
		for _, n := range []int{0, 1, 2, 3, 60 << 10} {
			one := &Taken{
				Token: tokenOf(durable.Token{}, "q", key) + "-4294967295", Key: key, Value: bytes.Repeat([]byte{0xff}, n), Due: time.Date(2026, 11, 26, 1, 2, 3, 999999999, time.FixedZone("", 3600)),
				ID: strings.Repeat("f", 32), Attempt: math.MaxInt32, Timeout: math.MaxInt64,
			}
			data, err := json.Marshal(one)
			require.NoError(t, err)
			require.LessOrEqual(t, len(data)+1, sizeOf(one))
		}
	}
}

// A worker that goes waits for no other server. What that one hands out later is due again there at once.
func TestLateFiringsOfAnotherServerAreGivenBack(t *testing.T) {
	a, b := pair(t)
	push(t, a, "q", 1)
	b.takeHere("q", 100, 1<<20, "") // its own
	data, err := json.Marshal(&reply{Taken: a.takeHere("q", 1, 1<<20, "")})
	require.NoError(t, err)
	const slow = "AAAAAAAAAAAA"
	offer, err := a.conn.Subscribe("epicycle.timers.queue", func(m *nats.Msg) {
		if m.Reply != "" {
			_ = m.Respond([]byte(`{"server":"` + slow + `","has":true}`))
		}
	})
	require.NoError(t, err)
	asked := make(chan *nats.Msg, 1)
	hand, err := a.conn.Subscribe("epicycle.timers.queue."+slow, func(m *nats.Msg) { asked <- m })
	require.NoError(t, err)
	require.NoError(t, a.conn.Flush())
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan int)
	go func() { got <- len(b.TakeWithin(ctx, "q", 1, time.Hour, "")) }()
	m := <-asked
	cancel()
	require.Zero(t, <-got)
	require.NoError(t, m.Respond(data))
	eventually(t, func() bool { return a.Lanes().Queues["q"] == 1 })
	require.NoError(t, offer.Unsubscribe())
	require.NoError(t, hand.Unsubscribe())
}

// What a process was sending when it was told to end comes again soon after its grace if it is killed, even if its timeout
// is long.
func TestWebhooksOfAProcessThatIsKilledInItsGrace(t *testing.T) {
	a, b := pair(t)
	end := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer receiver.Close()
	defer close(end)
	for i := 0; a.Lanes().Running == 0; i++ {
		require.NoError(t, errOf(a.Set(t.Context(), fmt.Sprint("k", i), webhook(receiver.URL, time.Hour), 0)))
		time.Sleep(time.Millisecond)
	}
	grace, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	a.Drain(grace)
	eventually(t, func() bool { return b.Stats().Owned == 2 }) // on a busy machine it gets them after the grace
	eventually(t, func() bool {
		l, err := b.List(t.Context(), durable.Query{Limit: 10})
		require.NoError(t, err)
		for _, e := range l {
			if e.Attempt == 2 {
				return true
			}
		}
		return false
	})
}
