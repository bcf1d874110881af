package durable_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// setsTimers is how a process that only sets timers opens them.
func setsTimers(ctx context.Context, urls, password string, order Order) error {
	nc, err := nats.Connect(urls, nats.UserInfo("caller", password),
		nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond), nats.RetryOnFailedConnect(true))
	if err != nil {
		return err
	}
	defer nc.Close()
	timers, err := durable.Open(ctx, durable.Config[string, Order]{Conn: nc}) // without a Handle it is a caller
	if err != nil {
		return err
	}
	defer timers.Close()
	_, err = timers.Set(ctx, order.Number, order, 30*time.Minute)
	return err
}

// openOnCluster is how a worker opens its timers on a cluster, and ends.
func openOnCluster(ctx context.Context, urls, password string, cancelOrder func(context.Context, Order) error) error {
	nc, err := nats.Connect(urls, nats.UserInfo("worker", password),
		nats.Name("shop worker"),
		nats.MaxReconnects(-1), // for as long as the process goes on
		nats.ReconnectWait(250*time.Millisecond),
		nats.RetryOnFailedConnect(true)) // the servers may start later
	if err != nil {
		return err
	}
	defer nc.Close() // after Shutdown
	timers, err := durable.Open(ctx, durable.Config[string, Order]{
		Conn: nc,
		Handle: func(ctx context.Context, f durable.Firing[string, Order]) error {
			return cancelOrder(ctx, f.Value)
		},
		Logger: slog.Default(),
	})
	if err != nil {
		return err
	}
	defer timers.Close() // if it is not ended by Shutdown
	serve(ctx, timers)
	patience, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return timers.Shutdown(patience)
}

// serve is the rest of the program.
var serve = func(ctx context.Context, timers *durable.Keyed[string, Order]) { <-ctx.Done() }

// documentedServers starts three servers with the configuration that docs/durable-cluster.md recommends, on ports that are
// free here.
func documentedServers(t *testing.T, errs *serverErrors) (urls string) {
	const file = "../../docs/cluster/nats.conf"
	t.Setenv("WORKER_PASSWORD", "secret")
	t.Setenv("CALLER_PASSWORD", `"12345 #"`) // the quotes are for the server
	t.Setenv("OPERATOR_PASSWORD", "backup")
	t.Setenv("ADMIN_PASSWORD", "remove")
	cfgs, err := servers.Cluster(3, func(int) string { return t.TempDir() })
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i, cfg := range cfgs {
		opts, err := server.ProcessConfigFile(file)
		require.NoError(t, err)
		require.True(t, opts.SyncAlways)
		require.NotEmpty(t, opts.StoreDir)
		require.NotZero(t, opts.HTTPPort)
		require.Len(t, opts.Routes, 3)
		opts.ServerName, opts.Port, opts.HTTPPort, opts.StoreDir, opts.NoSigs = cfg.Name, cfg.Port, 0, cfg.Dir, true
		opts.Host, opts.Cluster.Host, opts.Cluster.Port = "127.0.0.1", "127.0.0.1", cfg.Cluster
		for at, other := range cfgs {
			opts.Routes[at] = &url.URL{Scheme: "nats", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(other.Cluster))}
		}
		s, err := server.NewServer(opts)
		require.NoError(t, err, "server %d", i)
		s.SetLogger(errs, false, false)
		wg.Go(s.Start)
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
		urls += cfg.URL() + ","
	}
	wg.Wait()
	return urls
}

// Two workers of docs/durable-cluster.md share timers on the servers of that page, with the permissions that it gives
// them.
func TestClusterOfTheDocs(t *testing.T) {
	errs := new(serverErrors)
	urls := documentedServers(t, errs)
	both := make(chan *durable.Keyed[string, Order])
	serve = func(ctx context.Context, timers *durable.Keyed[string, Order]) {
		both <- timers
		<-ctx.Done()
	}
	cancelled := make(chan Order, 100)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			ended <- openOnCluster(ctx, urls, "secret", func(_ context.Context, o Order) error {
				cancelled <- o
				return nil
			})
		}()
	}
	a, b := opened(t, both, ended), opened(t, both, ended)
	require.Eventually(t, func() bool { return a.Stats().Owned == 4 && b.Stats().Owned == 4 }, time.Minute, 10*time.Millisecond)
	for i := range 20 {
		require.NoError(t, errOf(a.Set(ctx, fmt.Sprint(i), Order{fmt.Sprint(i), i}, time.Duration(i%2)*time.Hour)))
	}
	n := 0
	for _, err := range b.All(ctx) {
		require.NoError(t, err)
		n++
	}
	require.GreaterOrEqual(t, n, 10)
	for range 10 {
		require.Zero(t, (<-cancelled).Customer%2)
	}
	backUpOfTheDocs(t, urls)
	require.Empty(t, errs.said())
	require.NoError(t, setsTimers(ctx, urls, "12345 #", Order{Number: "of a caller"}))
	_, _, ok, err := a.Get(ctx, "of a caller")
	require.NoError(t, err)
	require.True(t, ok)
	callerWithFewRights(t, urls, errs)
	callerOfTheDocs(t, urls, errs)
	require.Zero(t, a.Stats().Damaged+b.Stats().Damaged)
	end()
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	require.Len(t, errs.said(), 4, "the caller's")
}

// callerWithFewRights calls for all that a caller can call for, and sees all that it can see, with the permissions that
// the file gives to callers.
func callerWithFewRights(t *testing.T, urls string, errs *serverErrors) {
	nc, err := nats.Connect(urls, connectsLate, nats.UserInfo("caller", "12345 #"))
	require.NoError(t, err)
	defer nc.Close()
	w, err := durable.Open(t.Context(), durable.Config[string, Order]{Conn: nc})
	require.NoError(t, err)
	defer w.Close()
	var b durable.Batch[string, Order]
	for i := range 1000 {
		b.Set(fmt.Sprint("of a caller ", i), Order{}, time.Hour)
	}
	require.NoError(t, w.Batch(t.Context(), &b))
	n := 0
	for _, err := range w.All(t.Context()) {
		require.NoError(t, err)
		n++
	}
	require.Greater(t, n, 1000)
	for range w.Dead(t.Context()) {
		t.Error("none is dead")
	}
	require.Len(t, w.Stats().Members, 2)
	require.Equal(t, 8, w.Stats().Members[0].Owned+w.Stats().Members[1].Owned)
	require.NoError(t, nc.LastError())
	require.NoError(t, w.Close())
	require.NoError(t, nc.Flush())
	require.Empty(t, errs.said())
}

// callerOfTheDocs asks as the user that may do nothing else. It can't write to a log, nor have an owner do so.
func callerOfTheDocs(t *testing.T, urls string, errs *serverErrors) {
	nc, err := nats.Connect(urls, connectsLate, nats.UserInfo("caller", "12345 #"))
	require.NoError(t, err)
	defer nc.Close()
	length := []byte{1, 3} // as WIRE.md has it
	ask := func() {
		answer, err := nc.Request("epicycle.timers.ask.0", length, time.Minute)
		require.NoError(t, err)
		require.Equal(t, []byte{1, 0}, answer.Data[:2])
	}
	ask()
	operator, err := nats.Connect(urls, connectsLate, nats.UserInfo("operator", "backup"))
	require.NoError(t, err)
	defer operator.Close()
	js, err := jetstream.New(operator, answersLate)
	require.NoError(t, err)
	last := func() uint64 {
		log, err := js.Stream(t.Context(), "epicycle_timers_0")
		require.NoError(t, err)
		return log.CachedInfo().State.LastSeq
	}
	before := last()
	require.NoError(t, nc.PublishRequest("epicycle.timers.ask.0", "epicycle.timers.log.0", length))
	for _, subject := range []string{"epicycle.timers.log.0", "epicycle.timers.mark.0", "epicycle.timers.give.1", "$KV.epicycle_timers.claim.0"} {
		require.NoError(t, nc.Publish(subject, length))
	}
	ask()
	require.Equal(t, before, last())
	require.Eventually(t, func() bool { return len(errs.said()) == 4 }, time.Minute, time.Millisecond)
}

// backUpOfTheDocs copies a log as the user that docs/cluster/nats.conf has for that.
func backUpOfTheDocs(t *testing.T, urls string) {
	nc, err := nats.Connect(urls, connectsLate, nats.UserInfo("operator", "backup"))
	require.NoError(t, err)
	defer nc.Close()
	require.NotEmpty(t, backUp(t, nc, "epicycle_timers_0").chunks)
	require.NoError(t, nc.Publish("$JS.SNAPSHOT.ACK.epicycle_timers_0.1", nil)) // as for the parts of a large log
	require.NoError(t, nc.Flush())
	require.NoError(t, nc.LastError())
}

func opened(t *testing.T, both <-chan *durable.Keyed[string, Order], ended <-chan error) *durable.Keyed[string, Order] {
	select {
	case timers := <-both:
		return timers
	case err := <-ended:
		require.NoError(t, err)
		return nil
	}
}

// serverErrors has what servers say of permissions.
type serverErrors struct {
	mu    sync.Mutex
	lines []string
}

func (e *serverErrors) Errorf(format string, v ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if line := fmt.Sprintf(format, v...); strings.Contains(strings.ToLower(line), "violation") {
		e.lines = append(e.lines, line)
	}
}

func (e *serverErrors) Fatalf(format string, v ...any) { e.Errorf("violation: "+format, v...) }
func (*serverErrors) Noticef(string, ...any)           {}
func (*serverErrors) Warnf(string, ...any)             {}
func (*serverErrors) Debugf(string, ...any)            {}
func (*serverErrors) Tracef(string, ...any)            {}

func (e *serverErrors) said() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lines
}
