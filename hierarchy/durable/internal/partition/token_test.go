package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// announcing makes the bench announce timers: their firings are appended to fired, and those that were withdrawn to the
// result.
func (b *bench) announcing() *[]core.Firing {
	b.cfg.Announce = func(f core.Firing) error { b.fired = append(b.fired, f); return nil }
	withdrawn := new([]core.Firing)
	b.cfg.Withdrawn = func(f core.Firing) { *withdrawn = append(*withdrawn, f) }
	return withdrawn
}

// begin begins the attempt that was announced last.
func (b *bench) begin() Taken {
	f := b.last()
	t, ok := b.p.Begin([]byte(f.Key), f.ID)
	b.True(ok)
	return t
}

// due sets a timer, makes it due, and begins its attempt, which has a token for a time.
func (b *bench) due(k string, d time.Duration) (t Taken, end func(error) bool) {
	b.set(k, "v", 0)
	b.mock.Add(time.Second)
	t = b.begin()
	return t, b.ends(&t, d)
}

// ends gives an attempt a token, and returns a function that ends the attempt by it.
func (b *bench) ends(t *Taken, d time.Duration) func(error) bool {
	name, number := t.Token(d)
	return func(err error) bool {
		return b.do(core.Op{Kind: frame.End, Key: []byte(t.Key), Ending: core.End(name, number, err)})
	}
}

var successions = map[string]func(*bench){
	"the same owner": func(*bench) {},
	"after Shutdown": func(b *bench) { b.shut(); b.open() },
	"handed over": func(b *bench) {
		f := b.follow()
		b.NoError(b.p.HandOver(b.t.Context()))
		b.p = nil
		b.own(f)
	},
	"after Shutdown, written again": func(b *bench) {
		b.shut()
		b.cfg.TrimAbove = 50
		b.open()
		b.trimAll()
		b.shut()
		b.open()
	},
	"shut down, and killed": func(b *bench) { b.shut(); b.open(); b.crash(); b.open() },
}

// An attempt with a token is ended by it, whoever owns the log, once, and counts as running until then.
func TestTokens(t *testing.T) {
	bad := errors.New("bad")
	for name, next := range successions {
		for result, check := range map[error]func(b *bench){
			nil: func(b *bench) { b.Empty(b.keys(false)) },
			bad: func(b *bench) {
				b.Empty(b.took(), "it waits for Backoff")
				b.mock.Add(time.Second)
				b.EqualValues(2, b.last().Attempt)
			},
			&core.Later{Err: bad, In: time.Minute}: func(b *bench) {
				b.mock.Add(time.Minute - 1)
				b.Empty(b.took())
				b.mock.Add(1)
				b.EqualValues(2, b.last().Attempt)
			},
			&core.Postponed{Err: bad, In: time.Minute}: func(b *bench) {
				b.mock.Add(time.Minute - 1)
				b.Empty(b.took())
				b.mock.Add(1)
				b.EqualValues(1, b.last().Attempt)
			},
			&core.Final{Err: bad}: func(b *bench) {
				b.NoError(b.p.All(true, func(timer state.Timer) bool {
					b.Equal("bad", timer.LastError)
					return true
				}))
				b.Len(b.keys(true), 1)
			},
		} {
			t.Run(fmt.Sprint(name, result), func(t *testing.T) {
				b := newBench(t)
				b.announcing()
				b.open()
				a, end := b.due("k", time.Hour)
				b.took()
				next(b)
				b.mock.Add(time.Minute)
				b.Empty(b.took(), "the attempt goes on")
				timer, ok, err := b.p.Lookup([]byte("k"))
				b.NoError(err)
				b.True(ok)
				b.True(timer.Running)
				b.EqualValues(1, timer.Attempt)
				_, left := b.get("k")
				b.Zero(left)
				b.False(b.do(core.Op{Kind: frame.End, Key: []byte("k"), Ending: core.End(1, 1, nil)}), "it has another name")
				b.True(end(result))
				b.False(end(result))
				check(b)
				b.Error(a.Context().Err())
				b.Equal(name != "the same owner", context.Cause(a.Context()) == ErrLeft)
				took, err := a.End(t.Context(), nil)
				b.False(took)
				b.Equal(name != "the same owner", err == ErrLeft)
				b.NoError(b.p.Shutdown(t.Context()))
				b.p = nil
			})
		}
	}
}

// An attempt that was left and is not ended in time has failed. If it was the last, the timer is dead then, and not
// before.
func TestLeftUnanswered(t *testing.T) {
	for name, next := range successions {
		if name == "the same owner" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.announcing()
			var died []core.Firing
			b.cfg.OnDead = func(f core.Firing, _ error) { died = append(died, f) }
			b.open()
			b.set("k", "v", 0)
			b.mock.Add(time.Second)
			for n := range 3 {
				a := b.begin()
				b.EqualValues(n+1, a.Attempt)
				end := b.ends(&a, time.Minute)
				next(b)
				b.took()
				b.mock.Add(time.Minute - 1)
				b.Empty(b.took())
				b.Empty(died)
				b.Len(b.keys(false), 1)
				b.mock.Add(1)
				b.False(end(nil), "it comes too late")
			}
			b.Eventually(func() bool { return len(b.keys(true)) == 1 }, time.Minute, time.Millisecond)
			b.Empty(b.took())
			b.shut() // waits for OnDead
			b.Len(died, 1)
			b.EqualValues(3, died[0].Attempt)
		})
	}
}

// Shutdown does not wait for attempts with tokens, nor does Settle, but for others. An attempt that gets its token
// meanwhile is left, too.
func TestShutdownLeaves(t *testing.T) {
	b := newBench(t)
	b.announcing()
	b.open()
	b.due("a", time.Hour)
	b.p.Settle(t.Context())
	b.set("b", "v", 0)
	b.mock.Add(time.Second)
	other := b.begin()
	ended := make(chan error)
	go func() { ended <- b.p.Shutdown(t.Context()) }()
	b.Eventually(func() bool {
		b.p.mu.Lock()
		defer b.p.mu.Unlock()
		return b.p.firer.stopped
	}, time.Minute, time.Millisecond)
	name, number := other.Token(time.Hour)
	b.NoError(<-ended)
	b.ErrorIs(context.Cause(other.Context()), ErrLeft)
	b.open()
	b.True(b.do(core.Op{Kind: frame.End, Key: []byte("b"), Ending: core.End(name, number, nil)}))
	b.Equal(map[string]string{"a": "v"}, b.keys(false))
}

// A timer that was set, moved or removed, or whose attempt has ended otherwise, has no attempt that the token ends.
func TestTokensOfOtherTimers(t *testing.T) {
	for what, change := range map[string]func(*bench, *Taken){
		"set":    func(b *bench, _ *Taken) { b.set("k", "w", time.Hour) },
		"move":   func(b *bench, _ *Taken) { b.True(b.move("k", time.Hour)) },
		"remove": func(b *bench, _ *Taken) { _, ok := b.remove("k"); b.True(ok) },
		"end": func(b *bench, a *Taken) {
			took, err := a.End(b.t.Context(), errHandler)
			b.NoError(err)
			b.True(took)
		},
		"final": func(b *bench, a *Taken) {
			took, err := a.End(b.t.Context(), &core.Final{Err: errHandler})
			b.NoError(err)
			b.True(took)
		},
	} {
		for name, next := range successions {
			t.Run(what+", "+name, func(t *testing.T) {
				b := newBench(t)
				b.announcing()
				b.open()
				a, end := b.due("k", time.Hour)
				if what != "end" && what != "final" {
					next(b)
				}
				change(b, &a)
				b.False(end(nil))
				next(b)
				b.False(end(nil))
			})
		}
	}
}

// A token with another number ends nothing, so that nobody can choose how many attempts are left.
func TestNumbersOfTokens(t *testing.T) {
	for succession, next := range successions {
		for _, attempt := range []uint32{1, 2} {
			t.Run(fmt.Sprint(succession, attempt), func(t *testing.T) {
				b := newBench(t)
				b.announcing()
				b.open()
				a, end := b.due("k", time.Hour)
				if attempt == 2 {
					b.True(end(errHandler))
					b.mock.Add(time.Second)
					a = b.begin()
				}
				name, number := a.Token(time.Hour)
				b.Equal(attempt, number)
				next(b)
				for _, other := range []uint32{0, number - 1, number + 1, 3, state.MaxCount, math.MaxUint32} {
					for _, err := range []error{nil, errHandler, &core.Postponed{Err: errHandler, In: 0}} {
						b.False(b.do(core.Op{Kind: frame.End, Key: []byte("k"), Ending: core.End(name, other, err)}))
					}
				}
				b.Len(b.keys(false), 1)
				b.True(b.do(core.Op{Kind: frame.End, Key: []byte("k"), Ending: core.End(name, number, errHandler)}))
				b.took()
				b.mock.Add(time.Duration(attempt) * time.Second)
				b.Equal(attempt+1, b.last().Attempt)
			})
		}
	}
}
