package durable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// both is durable timers and those of a wheel, on one mock clock.
type both struct {
	t   *testing.T
	mem *hierarchy.Keyed[string, string]
	w   *strs
}

// agree finds that both return the same.
func (b *both) agree(what string, mem, log any, err1, err2 error) {
	require.NoError(b.t, err1)
	require.NoError(b.t, err2)
	require.Equal(b.t, mem, log, what)
}

// Conditions and Swap do what they do in memory.
func TestConditionsAsInMemory(t *testing.T) {
	mock := clock.NewMock()
	b := &both{t: t}
	var err error
	b.mem, err = hierarchy.NewKeyed(hierarchy.Config{Clock: mock}, func(string, string) {})
	require.NoError(t, err)
	defer b.mem.Stop()
	b.w = open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Handle: func(context.Context, firing) error { return nil }})
	random := rand.New(rand.NewPCG(1, 0))
	for n := range 3000 {
		b.step(random, fmt.Sprint(n), mock)
	}
	b.compare()
}

func (b *both) step(r *rand.Rand, v string, mock *clock.Mock) {
	k, d, ctx := fmt.Sprint("k", r.IntN(5)), time.Duration(r.IntN(20)-2)*time.Second, b.t.Context()
	switch r.IntN(8) {
	case 0:
		want, err1 := b.mem.SetIfAbsent(k, v, d)
		_, got, err2 := b.w.SetIfAbsent(ctx, k, v, d)
		b.agree("SetIfAbsent", want, got, err1, err2)
	case 1, 2:
		want, err1 := b.mem.SetSooner(k, v, d)
		_, got, err2 := b.w.SetSooner(ctx, k, v, d)
		b.agree("SetSooner", want, got, err1, err2)
	case 3, 4:
		want, err1 := b.mem.SetLater(k, v, d)
		_, got, err2 := b.w.SetLater(ctx, k, v, d)
		b.agree("SetLater", want, got, err1, err2)
	case 5:
		want, ok1, err1 := b.mem.Swap(k, v, d)
		got, ok2, err2 := b.w.Swap(ctx, k, v, d)
		b.agree("Swap", []any{want, ok1}, []any{got, ok2}, err1, err2)
	case 6:
		want, ok1 := b.mem.Remove(k)
		got, ok2, err := b.w.RemoveEntry(ctx, k)
		b.agree("Remove", []any{want, ok1}, []any{got.Value, ok2}, nil, err)
	case 7:
		mock.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
	}
	mock.Add(0) // what was due at once has fired
}

func (b *both) compare() {
	log := map[string]string{}
	for e, err := range b.w.All(b.t.Context()) {
		require.NoError(b.t, err)
		log[e.Key] = e.Value
	}
	mem := map[string]string{}
	for k, e := range b.mem.All() {
		mem[k] = e.Value
	}
	require.Equal(b.t, mem, log)
}

// A Batch has them, too, and Took reports whether they have set.
func TestBatchOfConditions(t *testing.T) {
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: clock.NewMock(),
		Handle: func(context.Context, firing) error { return nil }})
	requireConditions(t, w)
}

func TestConditionsOfAnotherProcess(t *testing.T) {
	urls, _ := natsServers(t, 1)
	cfg := durable.Config[string, string]{Conn: connect(t, urls), Partitions: 1, Lease: time.Minute,
		Handle: func(context.Context, firing) error { return nil }}
	a := open(t, cfg)
	cfg.Conn = connect(t, urls)
	b := open(t, cfg)
	for _, w := range []*strs{a, b} { // one of them asks the other
		requireConditions(t, w)
		n, err := w.Len(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
	}
}

func requireConditions(t *testing.T, w *strs) {
	var b durable.Batch[string, string]
	b.SetIfAbsent("a", "1", time.Hour)
	b.SetIfAbsent("a", "2", time.Minute)
	b.SetSooner("a", "3", 2*time.Hour)
	b.SetSooner("a", "4", time.Minute)
	b.SetLater("a", "5", time.Second)
	b.SetLater("a", "6", 3*time.Hour)
	b.SetLater("b", "7", time.Hour)
	require.NoError(t, w.Batch(t.Context(), &b))
	var took []bool
	for i := range b.Len() {
		took = append(took, b.Took(i))
		_, ok, err := b.Removed(i)
		require.NoError(t, err)
		require.False(t, ok)
	}
	require.Equal(t, []bool{true, false, false, true, false, true, true}, took)
	old, replaced, err := w.Swap(t.Context(), "a", "8", time.Hour)
	require.NoError(t, err)
	require.True(t, replaced)
	require.Equal(t, "6", old)
	ids := map[durable.ID]bool{}
	for k, v := range map[string]string{"a": "8", "b": "7"} {
		e, ok, err := w.RemoveEntry(t.Context(), k)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, entry{Key: k, Value: v, Due: e.Due, ID: e.ID}, e)
		require.NotZero(t, e.Due)
		ids[e.ID] = true
	}
	require.Len(t, ids, 2)
	_, ok, err := w.RemoveEntry(t.Context(), "a")
	require.NoError(t, err)
	require.False(t, ok)
	_, replaced, err = w.Swap(t.Context(), "a", "", time.Hour)
	require.NoError(t, err)
	require.False(t, replaced)
	_, replaced, err = w.Swap(t.Context(), "a", "", time.Hour) // an empty value is one
	require.NoError(t, err)
	require.True(t, replaced)
	_, _, err = w.Remove(t.Context(), "a")
	require.NoError(t, err)
}

// What was removed says whether its handler was called.
func TestRemovedEntriesHaveTheirState(t *testing.T) {
	mock := clock.NewMock()
	var w *strs
	var during entry
	w = open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, MaxAttempts: 2,
		Backoff: func(int) time.Duration { return time.Minute },
		Handle: func(ctx context.Context, f firing) (err error) {
			if f.Value == "removes itself" {
				var ok bool
				during, ok, err = w.RemoveEntry(ctx, f.Key)
				require.True(t, ok)
				require.NoError(t, err)
				require.Equal(t, f.ID, during.ID)
			}
			return errors.New("no")
		}})
	remove := func(k string) entry {
		e, ok, err := w.RemoveEntry(t.Context(), k)
		require.NoError(t, err)
		require.True(t, ok)
		return e
	}
	for k, v := range map[string]string{"waits": "", "fails": "", "dead": "", "runs": "removes itself"} {
		require.NoError(t, errOf(w.Set(t.Context(), k, v, time.Second)))
	}
	e := remove("waits")
	require.Equal(t, entry{Key: "waits", Due: time.Unix(1, 0), ID: e.ID}, e)
	mock.Add(time.Second)
	require.Equal(t, entry{Key: "runs", Value: "removes itself", Due: time.Unix(1, 0), ID: during.ID, Attempt: 1, State: durable.StateRunning}, during)
	e = remove("fails")
	require.Equal(t, entry{Key: "fails", Due: time.Unix(1, 0), ID: e.ID, Attempt: 1, LastError: "no", LastFailed: time.Unix(1, 0), Next: time.Unix(61, 0)}, e)
	mock.Add(time.Hour)
	e = remove("dead")
	require.Equal(t, entry{Key: "dead", Due: time.Unix(1, 0), ID: e.ID, Attempt: 2, LastError: "no", LastFailed: time.Unix(61, 0), State: durable.StateDead}, e)
	n, err := w.Len(t.Context())
	require.NoError(t, err)
	require.Zero(t, n+w.Stats().Dead)
}

// A value that can't be decoded was taken out all the same.
func TestEntryThatCannotBeDecoded(t *testing.T) {
	dir := t.TempDir()
	w := open(t, durable.Config[string, string]{Dir: dir, Handle: func(context.Context, firing) error { return nil }})
	for _, k := range []string{"a", "b"} {
		require.NoError(t, errOf(w.Set(t.Context(), k, "no number", time.Hour)))
	}
	require.NoError(t, w.Close())
	numbers := open(t, durable.Config[string, int]{Dir: dir,
		Handle: func(context.Context, durable.Firing[string, int]) error { return nil }})
	e, ok, err := numbers.RemoveEntry(t.Context(), "a")
	require.Error(t, err)
	require.True(t, ok)
	require.NotZero(t, e.ID)
	_, replaced, err := numbers.Swap(t.Context(), "b", 1, time.Hour)
	require.Error(t, err)
	require.True(t, replaced)
	old, replaced, err := numbers.Swap(t.Context(), "b", 2, time.Hour)
	require.NoError(t, err)
	require.True(t, replaced)
	require.Equal(t, 1, old)
}

func TestStates(t *testing.T) {
	require.Equal(t, "waiting running dead State(7)", fmt.Sprint(durable.StateWaiting, durable.StateRunning, durable.StateDead, durable.State(7)))
}
