package service

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// limit sets a limit at one server, and waits until the other one has it.
func limit(t *testing.T, a, b *Service, s limits.Scope, l limits.Limit) {
	t.Helper()
	_, err := a.ChangeLimit(t.Context(), s, func(limits.Limit) (limits.Limit, error) { return l, nil })
	require.NoError(t, err)
	eventually(t, func() bool { return a.limits.are()[s] == l && b.limits.are()[s] == l })
}

// Servers share a limit: they make no more attempts at once than one alone would, and all timers have their turn, also those
// of the server that is not the pacer.
func TestSharedLimit(t *testing.T) {
	a, b := pair(t)
	q := limits.Scope{Kind: limits.Queue, Name: "q"}
	limit(t, a, b, q, limits.Limit{AtOnce: 2})
	push(t, a, "q", 10)
	push(t, b, "q", 10)
	total := a.Lanes().Queues["q"] + b.Lanes().Queues["q"]
	require.Equal(t, total, a.Limits(t.Context())[0].Waiting)
	var running, most, done atomic.Int64
	work := func(s *Service) {
		for int(done.Load()) < total {
			for _, f := range s.TakeWithin(t.Context(), "q", 10, 200*time.Millisecond, "") {
				for n := running.Add(1); n > most.Load(); {
					most.Store(n)
				}
				time.Sleep(2 * time.Millisecond)
				running.Add(-1)
				if err := s.End(t.Context(), "q", []string{f.Token}, nil, ""); err[0] != nil {
					t.Error(err[0])
				}
				done.Add(1)
			}
		}
	}
	ended := make(chan bool)
	for _, s := range []*Service{a, a, b, b} {
		go func() { work(s); ended <- true }()
	}
	for range 4 {
		<-ended
	}
	require.LessOrEqual(t, most.Load(), int64(2))
	require.Zero(t, a.Limits(t.Context())[0].Waiting)
	if !a.Owns(q.String()) {
		a, b = b, a
	}
	eventually(t, func() bool {
		return a.share.pacer.heldBy(q, a.share.peers.id) == 0 && a.share.pacer.heldBy(q, b.share.peers.id) == 0
	})
}

// takeOne sets n timers of a server for the queue q, and has it take one of them.
func takeOne(t *testing.T, s *Service, n int) {
	t.Helper()
	to := task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Hour}
	for i := 0; n > 0; i++ {
		if key := fmt.Sprint(i); s.Owns(key) {
			require.NoError(t, errOf(s.Set(t.Context(), key, to, 0)))
			n--
		}
	}
	require.Len(t, s.TakeWithin(t.Context(), "q", 1, time.Minute, ""), 1)
}

// pacerOf returns two servers that share a limit of the queue q. The first one is its pacer.
func pacerOf(t *testing.T, q limits.Scope) (a, b *Service) {
	t.Helper()
	a, b = pair(t)
	if !a.Owns(q.String()) {
		a, b = b, a
	}
	limit(t, a, b, q, limits.Limit{AtOnce: 1})
	return a, b
}

// heldBy returns what a server holds, as far as the pacer knows. Without questions it forgets none.
func (p *pacer) heldBy(s limits.Scope, server string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paced[s].holders[server].held
}

// Whoever does not wait gets what the limit allows, too, and a limit that is removed is none for anybody.
func TestSharedLimitWithoutWaiting(t *testing.T) {
	a, b := pair(t)
	q := limits.Scope{Kind: limits.Prefix, Name: "q"}
	limit(t, a, b, q, limits.Limit{Rate: 0.001})
	push(t, a, "q", 2)
	push(t, b, "q", 2)
	var taken []Taken
	for _, s := range []*Service{a, b, a, b} {
		taken = append(taken, s.TakeWithin(t.Context(), "q", 10, 0, "")...)
	}
	require.Len(t, taken, 1)
	limit(t, b, a, q, limits.Limit{Paused: true, Rate: 0.001})
	require.Empty(t, a.TakeWithin(t.Context(), "q", 10, 0, ""))
	limit(t, a, b, q, limits.Limit{})
	for total := len(taken); a.Lanes().Queues["q"]+b.Lanes().Queues["q"] > 0; total++ {
		taken = append(taken, a.TakeWithin(t.Context(), "q", 10, time.Minute, "")...)
		require.Greater(t, len(taken), total, fmt.Sprint(a.Lanes(), b.Lanes()))
	}
}

// A server that becomes the pacer counts what it holds itself, also if none of its timers waits.
func TestPacerHoldsSome(t *testing.T) {
	q := limits.Scope{Kind: limits.Queue, Name: "q"}
	a, b := pacerOf(t, q)
	takeOne(t, b, 1)
	a.Drain(t.Context())
	eventually(t, func() bool { return b.Owns(q.String()) })
	granted := make(chan int, 1)
	require.True(t, b.share.pacer.ask(q, "another", 1, 0, func(n int) { granted <- n }))
	require.Zero(t, <-granted)
}

// The pacer can die: another server is it then.
func TestPacerMoves(t *testing.T) {
	q := limits.Scope{Kind: limits.Queue, Name: "q"}
	a, b := pacerOf(t, q)
	takeOne(t, b, 3)
	_, held := b.gate.Shared(q)
	require.Equal(t, 1, held)
	a.Drain(t.Context())
	eventually(t, func() bool { return b.Owns(q.String()) })
	require.Empty(t, b.TakeWithin(t.Context(), "q", 1, 3*tellTime, ""))
	limit(t, b, b, q, limits.Limit{AtOnce: 2})
	require.Len(t, b.TakeWithin(t.Context(), "q", 1, time.Minute, ""), 1)
}
