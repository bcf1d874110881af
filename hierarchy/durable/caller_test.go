package durable_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// caller opens the timers of a process that owns nothing.
func caller(t testing.TB, urls string) *strs {
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: connect(t, urls)})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

// Without a Handle there must be servers.
func TestCallerNeedsConn(t *testing.T) {
	_, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: t.TempDir()})
	require.ErrorIs(t, err, durable.ErrArgument)
	require.EqualError(t, err, "durable: bad argument: Handle is nil, which needs Conn")
}

// All methods of a caller work, by the owners. It is no member, and its own figures are those of its calls.
func TestCaller(t *testing.T) {
	urls, _ := natsServers(t, 1)
	var r record
	ctx := t.Context()
	owner, err := durable.Open(ctx, durable.Config[string, string]{Conn: connect(t, urls), MaxAttempts: 1, Handle: func(ctx context.Context, f firing) error {
		if f.Key == "dies" {
			return fmt.Errorf("no")
		}
		return r.handle(ctx, f)
	}})
	require.NoError(t, err)
	defer owner.Close()
	w := caller(t, urls)
	require.NoError(t, errOf(w.Set(ctx, "a", "value", time.Hour)))
	require.NoError(t, errOf(w.SetAt(ctx, "b", "2", time.Now().Add(time.Hour))))
	requirePending(t, w, "a")
	n, err := w.Len(ctx)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	var all []string
	for e, err := range w.All(ctx) {
		require.NoError(t, err)
		all = append(all, e.Key+e.Value)
	}
	require.ElementsMatch(t, []string{"avalue", "b2"}, all)
	v, ok, err := w.Remove(ctx, "a")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "value", v)
	_, ok, err = w.Move(ctx, "b", 0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Eventually(t, func() bool { return r.len() == 1 }, time.Minute, time.Millisecond)

	var b durable.Batch[string, string]
	for i := range 100 {
		b.Set(fmt.Sprint(i), "", time.Hour)
	}
	b.Set("dies", "", 0)
	require.NoError(t, w.Batch(ctx, &b))
	require.True(t, b.Took(99))
	dead := func() (keys []string) {
		for f, err := range w.Dead(ctx) {
			require.NoError(t, err)
			require.NotZero(t, f.Epoch)
			keys = append(keys, f.Key)
		}
		return keys
	}
	require.Eventually(t, func() bool { return len(dead()) == 1 }, time.Minute, time.Millisecond)
	ok, err = w.Revive(ctx, "dies")
	require.NoError(t, err)
	require.True(t, ok)

	st := w.Stats()
	require.Zero(t, st.Owned+st.Damaged+st.Pending)
	require.Len(t, st.Partitions, 8)
	require.Len(t, st.Members, 1)
	require.Equal(t, 8, st.Members[0].Owned)
	require.False(t, st.Members[0].Self)
	require.Contains(t, st.Members[0].Text, st.Members[0].ID)
	require.Equal(t, st.Members[0].Text, st.Partitions[7].Owner)
	require.Greater(t, st.Calls.Count(), uint64(8))
	require.Zero(t, st.Unanswered)
	require.Zero(t, owner.Stats().Calls.Count()) // it has asked nobody
	require.Equal(t, owner.Stats().Members[0].Text, st.Members[0].Text)
	requireMembers(t, urls, 1)

	canceled, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, w.Shutdown(canceled), nil) // there is nothing to wait for
	require.ErrorIs(t, errOf(w.Set(ctx, "a", "", 0)), durable.ErrClosed)
	require.NoError(t, w.Close())
}

// requireMembers checks how many records of members are in the table.
func requireMembers(t testing.TB, urls string, n int) {
	js, err := jetstream.New(connect(t, urls), answersLate)
	require.NoError(t, err)
	table, err := js.KeyValue(t.Context(), "epicycle_timers")
	require.NoError(t, err)
	keys, err := table.Keys(t.Context())
	require.NoError(t, err)
	members := 0
	for _, key := range keys {
		if strings.HasPrefix(key, "member.") {
			members++
		}
	}
	require.Equal(t, n, members)
}

// A caller that is first waits for a process that opens the name, and says so. It creates nothing meanwhile.
func TestCallerIsFirst(t *testing.T) {
	urls, _ := natsServers(t, 1)
	nc := connect(t, urls)
	var cfg durable.Config[string, string]
	for limit := time.Second; ; limit *= 4 { // the server may not have answered within a second
		said := new(logged)
		cfg = durable.Config[string, string]{Conn: nc, Logger: slog.New(slog.NewTextHandler(said, nil))}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := durable.Open(ctx, cfg)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		if said.count("no process that has a Handle") == 0 && limit < tooLong {
			continue
		}
		require.EqualError(t, err, `durable: context deadline exceeded: no process that has a Handle has opened it yet: "timers"`)
		require.Equal(t, 1, said.count("no process that has a Handle"))
		break
	}
	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	for name := range js.StreamNames(t.Context()).Name() {
		t.Error("it has created", name)
	}

	opened := make(chan *strs)
	go func() {
		w, err := durable.Open(t.Context(), cfg)
		if err != nil {
			t.Error(err)
		}
		opened <- w
	}()
	var r record
	openShared(t, connect(t, urls), &r, 10*time.Second)
	w := <-opened
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", 0)))
	require.Eventually(t, func() bool { return r.len() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, w.Close())
	cfg.Partitions = 4
	_, err = durable.Open(t.Context(), cfg)
	require.ErrorIs(t, err, durable.ErrArgument)
}

// A caller's durations count by its Clock.
func TestCallerWithAMock(t *testing.T) {
	urls, _ := natsServers(t, 1)
	var r record
	mock := clock.NewMock()
	owner, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: connect(t, urls), Clock: mock, Handle: r.handle})
	require.NoError(t, err)
	defer owner.Close()
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: connect(t, urls), Clock: mock})
	require.NoError(t, err)
	defer w.Close()
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", time.Hour)))
	mock.Add(time.Hour)
	require.Equal(t, 1, r.len())
}

// logged has what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) count(text string) int { return strings.Count(l.String(), text) }

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
