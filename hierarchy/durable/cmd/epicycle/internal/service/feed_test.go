package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// next returns the next n events as text, none of which is missing.
func next(t *testing.T, r *Reader, n int) (all []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(all) < n {
		events, missed, err := r.Read(ctx)
		require.NoError(t, err, all)
		require.Zero(t, missed)
		for _, e := range events {
			require.WithinRange(t, e.At, time.Now().Add(-time.Minute), time.Now())
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", e.Kind, e.Key, e.Attempt, e.Error)))
		}
	}
	require.Len(t, all, n)
	return all
}

// Who does not read misses what there is no room for, is told how much, and then gets the next ones. Others are not held
// up.
func TestReaders(t *testing.T) {
	var f feed
	slow, quick, some, relay := f.add("", false), f.add("", false), f.add("some-", false), f.add("", true)
	large := strings.Repeat("x", 1<<10)
	n := 0
	for ; slow.missed < 10; n++ {
		f.pass(false, 0, &Event{Kind: EventFailed, Key: fmt.Sprint(n), Error: large})
		events, missed, err := quick.Read(t.Context())
		require.NoError(t, err)
		require.Zero(t, missed)
		require.Equal(t, fmt.Sprint(n), events[0].Key)
		require.LessOrEqual(t, slow.size, maxUnread)
	}
	events, missed, err := slow.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, 10, missed)
	require.Len(t, events, n-10)
	require.Equal(t, fmt.Sprint(n-11), events[n-11].Key)
	f.pass(true, 3, &Event{Kind: EventSet, Key: "some-1"}, &Event{Kind: EventSet, Key: "other"})
	events, missed, err = slow.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, missed)
	require.Len(t, events, 2)
	events, missed, err = some.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, missed, "nobody knows of which keys they are")
	require.Len(t, events, 1)
	events, missed, _ = relay.Read(t.Context())
	require.Len(t, events, n-10, "what has happened elsewhere is not passed on again")
	require.Equal(t, 10, missed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = slow.Read(ctx)
	require.ErrorIs(t, err, context.Canceled)
	for _, r := range []*Reader{slow, quick, some, relay} {
		require.True(t, f.follows.Load())
		f.remove(r)
	}
	require.False(t, f.follows.Load())
	require.False(t, f.isRead())
}

// The events of an attempt come after the change by which it begins, though it may begin before that has its answer.
func TestEventsWaitForChanges(t *testing.T) {
	s := open(t, nil)
	done := s.Changing("nobody follows")
	r := s.Follow(t.Context(), "")
	defer s.Leave(r)
	done()
	one, two := s.Changing("k"), s.Changing("k")
	s.tell(EventBegun, "k", durable.ID{}, 1, nil)
	s.tell(EventBegun, "other", durable.ID{}, 1, nil)
	s.Tell(EventSet, "k", durable.ID{})
	one()
	s.tell(EventDone, "k", durable.ID{}, 1, nil)
	require.Equal(t, []string{"begun other 1", "set k 0"}, next(t, r, 2))
	two()
	require.Equal(t, []string{"begun k 1", "done k 1"}, next(t, r, 2))
	require.Empty(t, s.feed.held)
	defer s.Changing("k")()
	for range maxHeld + 1 {
		s.tell(EventBegun, "k", durable.ID{}, 1, nil)
	}
	require.Len(t, next(t, r, 1), 1, "no more wait than there is room for")
}

// Each server tells what happens at all of them: of webhooks and of queues, in order, once.
func TestEventsOfSeveralServers(t *testing.T) {
	a, b := pair(t)
	ra, rb := a.Follow(t.Context(), ""), b.Follow(t.Context(), "k")
	status := make(chan int, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-status) }))
	defer hook.Close()
	for i := range 6 {
		key := fmt.Sprint("k", i)
		one := webhook(hook.URL, time.Hour)
		one.Retry = task.Retry{Attempts: 2, Backoff: time.Millisecond, Most: time.Millisecond}
		status <- 500
		status <- []int{200, 500, 410}[i%3]
		require.NoError(t, errOf(a.Set(t.Context(), key, one, 0)))
		want := []string{"begun KEY 1", "failed KEY 1 the webhook answered 500 Internal Server Error", "begun KEY 2", []string{
			"done KEY 2", "dead KEY 2 the webhook answered 500 Internal Server Error", "dead KEY 2 the webhook answered 410 Gone"}[i%3]}
		for j := range want {
			want[j] = strings.ReplaceAll(want[j], "KEY", key)
		}
		require.Equal(t, want, next(t, ra, 4))
		require.Equal(t, want, next(t, rb, 4))

		require.NoError(t, errOf(b.Set(t.Context(), key, queued(time.Hour, task.Retry{Attempts: 1}), 0)))
		taken := a.TakeWithin(t.Context(), "q", 1, time.Hour, key)
		result := []error{nil, errors.New("no luck")}[i%2]
		require.Equal(t, []error{nil}, b.End(t.Context(), "q", []string{taken[0].Token}, result, ""))
		end := []string{"done " + key + " 1", "dead " + key + " 1 no luck"}[i%2]
		for _, r := range []*Reader{ra, rb} { // the owner tells the first, and the server that was told the second
			require.ElementsMatch(t, []string{"begun " + key + " 1", end}, next(t, r, 2))
		}
	}
	a.Tell(EventSet, "other", durable.ID{})
	require.Equal(t, []string{"set other 0"}, next(t, ra, 1))
	a.Leave(ra)
	b.Leave(rb)
	a.Leave(ra)
	require.Nil(t, a.peers.following.sub)
	require.Nil(t, b.peers.following.sub)
	a.peers.relay.mu.Lock()
	require.True(t, a.peers.relay.runs, "it goes on until nobody has asked for a while, or the server ends")
	a.peers.relay.mu.Unlock()
}

// What another server sends is passed on only if it can be an event.
func TestEventsOfStrangers(t *testing.T) {
	a, b := pair(t)
	r := a.Follow(t.Context(), "")
	defer a.Leave(r)
	for _, text := range []string{"", "{", `{"from":"x","events":[null,{"event":"a\nevent: b","key":"k"}]}`, `{"from":"` + a.peers.id + `","events":[{"event":"set","key":"mine"}]}`} {
		require.NoError(t, b.conn.Publish(b.peers.events(), []byte(text)))
	}
	require.NoError(t, b.conn.Publish(b.peers.events(), []byte(`{"from":"x","events":[{"event":"set","key":"k"}],"missed":7}`)))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var events []*Event
	missed := 0
	for len(events) == 0 {
		some, n, err := r.Read(ctx)
		require.NoError(t, err)
		events, missed = append(events, some...), missed+n
	}
	require.Equal(t, []*Event{{Kind: EventSet, Key: "k"}}, events)
	require.Equal(t, 7, missed)
}

// A server that begins while another one follows is asked at once.
func TestEventsOfANewServer(t *testing.T) {
	a, b := pair(t)
	r := a.Follow(t.Context(), "")
	defer a.Leave(r)
	eventually(t, b.Followed) // what asks it now does not come later
	b.peers.relay.mu.Lock()
	b.peers.relay.until = time.Now() // as if it had not been asked
	b.peers.relay.mu.Unlock()
	b.Tell(EventSet, "k", durable.ID{}) // wakes it
	eventually(t, func() bool { return !b.Followed() })
	require.NoError(t, b.peers.hello())
	eventually(t, b.Followed)
}

// A relay ends when nobody has asked for its events for a while.
func TestRelayEnds(t *testing.T) {
	a, b := pair(t)
	r := a.Follow(t.Context(), "")
	require.Len(t, a.Stats().Members, 2)
	require.True(t, b.Followed())
	a.Leave(r)
	b.peers.relay.mu.Lock()
	b.peers.relay.until = time.Now()
	b.peers.relay.mu.Unlock()
	b.Tell(EventSet, "k", durable.ID{}) // wakes it
	eventually(t, func() bool { return !b.Followed() })
	require.False(t, a.Followed())
}
