package service

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// check checks that what is counted is there, within the limits.
func (h *history) check(t *testing.T) {
	t.Helper()
	require.Equal(t, len(h.timers), h.recent.Len())
	size := 0
	for e := h.recent.Front(); e != nil; e = e.Next() {
		p := e.Value.(*past)
		require.Same(t, e, h.timers[p.key])
		require.NotEmpty(t, p.tried)
		require.LessOrEqual(t, len(p.tried), maxTried)
		require.LessOrEqual(t, p.size(), 1<<10)
		size += pastSize + len(p.key) + p.size()
	}
	require.Equal(t, size, h.size)
	require.LessOrEqual(t, h.size, h.most)
}

// Of each timer the last few attempts are remembered, and of all timers those that were tried last, in the memory that
// there is.
func TestHistory(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(tried{}), uintptr(triedSize))
	h := newHistory()
	one, other := series{schedule: 1}, series{schedule: 2}
	long := strings.Repeat("ü", 1000)
	for i := range 7 {
		h.add("k", one, Tried{At: time.Unix(int64(i), 0).UTC(), Took: time.Duration(i), Status: 500 + i, Error: long})
		h.check(t)
	}
	all := h.of("k", one)
	require.Len(t, all, maxTried)
	for i, got := range all {
		require.Equal(t, Tried{time.Unix(int64(6-i), 0).UTC(), time.Duration(6 - i), 506 - i, got.Error}, got)
		require.LessOrEqual(t, len(got.Error), maxReason)
		require.True(t, utf8.ValidString(got.Error))
		require.True(t, strings.HasSuffix(got.Error, "ü…"))
	}
	require.Empty(t, h.of("k", other), "it is another timer")
	require.Empty(t, h.of("x", one))
	h.add("k", other, Tried{})
	h.check(t)
	require.Len(t, h.of("k", other), 1)
	require.Empty(t, h.of("k", one))
	h.drop("k")
	h.drop("k")
	h.check(t)
	require.Zero(t, h.size)

	h.most = 10_000
	for i := range 1000 {
		h.add(fmt.Sprint(i%50), one, Tried{Error: long})
		h.add("again", one, Tried{Error: long})
		h.check(t)
	}
	require.Less(t, len(h.timers), 50)
	require.Len(t, h.of("again", one), maxTried, "those that were tried last stay")
	require.NotEmpty(t, h.of("49", one))
}

// queued is a timer of a queue.
func queued(timeout time.Duration, r task.Retry) task.Task {
	return task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: timeout, Retry: r}
}

// attempts returns the last attempts of a timer as any server knows them, when there are some, the last one with an error.
func attempts(t *testing.T, s *Service, key string, n int, last string) (all []Tried) {
	t.Helper()
	eventually(t, func() bool {
		e, ok, err := s.Lookup(t.Context(), key)
		require.NoError(t, err)
		require.True(t, ok)
		all = s.Attempts(t.Context(), &e)
		require.LessOrEqual(t, len(all), n)
		return len(all) == n && (n == 0 || all[0].Error == last)
	})
	return all
}

// What workers end is remembered by the server that owns the timer, whichever server they tell, and each server knows it.
// A timer that is set anew begins anew, and what has ended is forgotten.
func TestAttemptsOfSeveralServers(t *testing.T) {
	a, b := pair(t)
	quick := task.Retry{Backoff: time.Millisecond, Most: time.Millisecond}
	for _, key := range []string{"k0", "k1", "k2", "k3", "k4", "k5"} {
		require.NotEqual(t, a.Owns(key), b.Owns(key))
		require.NoError(t, errOf(a.Set(t.Context(), key, queued(time.Hour, quick), 0)))
		for n := 1; n <= 6; n++ {
			taken := b.TakeWithin(t.Context(), "q", 1, time.Hour, key)
			require.Len(t, taken, 1)
			require.Equal(t, []error{nil}, a.End(t.Context(), "q", []string{taken[0].Token}, fmt.Errorf("no luck %d", n), ""))
			for _, s := range []*Service{a, b} {
				all := attempts(t, s, key, min(n, maxTried), fmt.Sprint("no luck ", n))
				require.Zero(t, all[0].Status)
				require.Less(t, all[0].Took, time.Minute)
				require.WithinRange(t, all[0].At, time.Now().Add(-time.Minute), time.Now())
			}
		}
		owner := a
		if b.Owns(key) {
			owner = b
		}
		require.NoError(t, errOf(b.Set(t.Context(), key, queued(time.Hour, quick), 0)))
		taken := a.TakeWithin(t.Context(), "q", 1, time.Hour, key)
		require.Empty(t, attempts(t, b, key, 0, ""))
		require.Equal(t, []error{nil}, b.End(t.Context(), "q", []string{taken[0].Token}, nil, ""))
		eventually(t, func() bool {
			owner.history.mu.Lock()
			defer owner.history.mu.Unlock()
			return owner.history.timers[key] == nil
		})
	}
}

// Runs of a schedule that have succeeded are remembered, too, and a worker that does not answer in time.
func TestAttemptsOfASchedule(t *testing.T) {
	s := openSending(t, 1, durable.Config[string, task.Task]{})
	schedule, err := durable.ParseSchedule("@every 10ms")
	require.NoError(t, err)
	require.NoError(t, errOf(s.SetSchedule(t.Context(), "k", queued(time.Hour, task.Retry{Attempts: 1}), schedule)))
	for i, result := range []error{nil, errors.New("no luck"), nil} {
		taken := s.TakeWithin(t.Context(), "q", 1, time.Hour, "")
		require.Equal(t, []error{nil}, s.End(t.Context(), "q", []string{taken[0].Token}, result, ""))
		last := ""
		if result != nil {
			last = result.Error()
		}
		require.Len(t, attempts(t, s, "k", i+1, last), i+1)
	}
	require.NoError(t, errOf(s.SetSchedule(t.Context(), "k", queued(time.Millisecond, task.Retry{Attempts: 1}), schedule)))
	s.TakeWithin(t.Context(), "q", 1, time.Hour, "")
	require.Len(t, attempts(t, s, "k", 4, "the worker has given no answer within the timeout 1ms"), 4)
}

// A timer whose last attempt was left by a server that has gone, and that nobody ends in time, is dead.
func TestLastAttemptThatWasLeft(t *testing.T) {
	a, b := pair(t)
	key := ""
	for i := 0; !a.Owns(key); i++ {
		key = fmt.Sprint("k", i)
	}
	reader := b.Follow(t.Context(), key)
	defer b.Leave(reader)
	require.NoError(t, errOf(a.Set(t.Context(), key, queued(time.Second, task.Retry{Attempts: 1}), 0)))
	require.Len(t, a.TakeWithin(t.Context(), "q", 1, time.Hour, key), 1)
	a.HandOver(t.Context())
	eventually(t, func() bool { return b.Owns(key) })
	eventually(t, func() bool {
		e, ok, err := b.Lookup(t.Context(), key)
		require.NoError(t, err)
		require.True(t, ok)
		return e.State == durable.StateDead
	})
	e, _, err := b.Lookup(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, errUnanswered.Error(), e.LastError)
}
