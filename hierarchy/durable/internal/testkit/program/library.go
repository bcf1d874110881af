package program

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

type (
	Keyed = durable.Keyed[string, string]
	entry = durable.Entry[string, string]
)

// Library is the door of the library itself.
type Library struct {
	// Processes opens the processes, which are asked in turn.
	Processes func(t *testing.T, cfg durable.Config[string, string]) []*Keyed

	t   *testing.T
	w   *World
	all []*Keyed
	n   int
}

// InDirectory is the library in a new directory.
func InDirectory(t *testing.T) *Library {
	dir := t.TempDir()
	return &Library{Processes: func(t *testing.T, cfg durable.Config[string, string]) []*Keyed {
		cfg.Dir = dir
		k, err := durable.Open(t.Context(), cfg)
		require.NoError(t, err)
		return []*Keyed{k}
	}}
}

// Want returns what a program does with the library in a directory, by a mock clock, with which doors are compared.
func (c Config) Want(t *testing.T, seed uint64, restarts bool) []string {
	return c.Run(t, seed, InDirectory(t), clock.NewMock(), restarts)
}

// Timers returns the configuration of the library for a program.
func Timers(w *World) durable.Config[string, string] {
	cfg := durable.Config[string, string]{
		MaxAttempts: w.MaxAttempts, Backoff: func(int) time.Duration { return Backoff }, Precision: 1,
		Handle: func(_ context.Context, f durable.Firing[string, string]) error {
			return w.Fire(Firing{Key: f.Key, Value: f.Value, ID: f.ID.String(), Due: f.Due, Attempt: f.Attempt, Missed: f.Missed})
		},
	}
	if w.Mock != nil {
		cfg.Clock = w.Mock
	}
	return cfg
}

func (l *Library) Open(t *testing.T, w *World) {
	l.t, l.w = t, w
	l.all = l.Processes(t, Timers(w))
	for w.Mock != nil && l.overdue() { // an owner may set its alarm only when Open has returned, and a mock clock stands still
		w.Mock.Add(0)
		time.Sleep(time.Millisecond)
	}
}

// overdue reports whether there is a timer that has not fired, although it is due.
func (l *Library) overdue() (is bool) {
	for e, err := range l.all[0].All(l.t.Context()) {
		require.NoError(l.t, err)
		at := e.Due
		if !e.Next.IsZero() {
			at = e.Next
		}
		is = is || !e.Paused && !at.After(l.w.Now())
	}
	return is
}

// First returns the timers of the first process, while they are open.
func (l *Library) First() *Keyed { return l.all[0] }

func (l *Library) Close() {
	for _, k := range l.all {
		require.NoError(l.t, k.Shutdown(l.t.Context()))
	}
}

// Do implements Door.
func (l *Library) Do(op *Op) Answer {
	l.n++
	k, ctx := l.all[l.n%len(l.all)], l.t.Context()
	switch op.Kind {
	case Set:
		return l.entry(l.set(k, op))
	case Debounce:
		return l.made(k.SetDebounced(ctx, op.Key, op.Value, op.In, op.Longest))
	case Schedule:
		return l.made(k.SetSchedule(ctx, op.Key, op.Value, l.schedule(op)))
	case Swap:
		return l.value(k.Swap(ctx, op.Key, op.Value, max(0, op.In)))
	case Move:
		if op.At {
			return l.entry(k.MoveAt(ctx, op.Key, l.at(op)))
		}
		return l.entry(k.Move(ctx, op.Key, op.In))
	case Remove:
		return l.entry(k.RemoveEntry(ctx, op.Key))
	case Revive:
		return l.entry(k.ReviveEntry(ctx, op.Key))
	case Pause:
		return l.then(k, op.Key)(k.Pause(ctx, op.Key))
	case Resume:
		return l.then(k, op.Key)(k.Resume(ctx, op.Key))
	case Get:
		v, remaining, ok, err := k.Get(ctx, op.Key)
		return l.value(fmt.Sprint(v, remaining), ok, err)
	case Lookup:
		return l.entry(k.Lookup(ctx, op.Key))
	case List:
		return l.list(k, op)
	case Batch:
		return l.batch(k, op)
	}
	panic(op.Kind)
}

func (l *Library) at(op *Op) time.Time { return l.w.Now().Add(op.In) }

func (l *Library) schedule(op *Op) durable.Schedule {
	s, err := durable.ParseSchedule(op.Schedule)
	require.NoError(l.t, err)
	return s
}

func (l *Library) set(k *Keyed, op *Op) (entry, bool, error) {
	set, setAt := k.SetIfAbsent, k.SetAtIfAbsent
	switch op.If {
	case "":
		set = func(ctx context.Context, key, value string, d time.Duration) (entry, bool, error) {
			e, err := k.Set(ctx, key, value, d)
			return e, true, err
		}
		setAt = func(ctx context.Context, key, value string, t time.Time) (entry, bool, error) {
			e, err := k.SetAt(ctx, key, value, t)
			return e, true, err
		}
	case "sooner":
		set, setAt = k.SetSooner, k.SetAtSooner
	case "later":
		set, setAt = k.SetLater, k.SetAtLater
	}
	if op.At {
		return setAt(l.t.Context(), op.Key, op.Value, l.at(op))
	}
	return set(l.t.Context(), op.Key, op.Value, op.In)
}

func (l *Library) entry(e entry, ok bool, err error) Answer {
	require.NoError(l.t, err)
	if e.Key == "" {
		return Answer{OK: ok}
	}
	return Answer{OK: ok, Timers: []Timer{{
		Key: e.Key, Value: e.Value, ID: e.ID.String(), Due: e.Due, Next: e.Next, LastFailed: e.LastFailed, Attempt: e.Attempt,
		State: e.State.String(), Schedule: e.Schedule.String(), LastError: e.LastError, Paused: e.Paused,
	}}}
}

func (l *Library) made(e entry, err error) Answer { return l.entry(e, true, err) }

func (l *Library) value(v string, ok bool, err error) Answer {
	require.NoError(l.t, err)
	return Answer{OK: ok, Text: v}
}

// then returns the answer of an operation that reports only whether it was done, with the timer as it is then.
func (l *Library) then(k *Keyed, key string) func(bool, error) Answer {
	return func(ok bool, err error) Answer {
		require.NoError(l.t, err)
		if !ok {
			return Answer{}
		}
		return l.entry(k.Lookup(l.t.Context(), key))
	}
}

func (l *Library) list(k *Keyed, op *Op) Answer {
	q := durable.Query{Prefix: op.Prefix, Limit: op.Limit}
	for _, s := range []durable.State{durable.StateWaiting, durable.StateRunning, durable.StateDead} {
		if s.String() == op.State {
			q.States = append(q.States, s)
		}
	}
	a := Answer{OK: true}
	for {
		page, err := k.List(l.t.Context(), q)
		require.NoError(l.t, err)
		for _, e := range page {
			a.Timers = append(a.Timers, l.made(e, nil).Timers...)
		}
		if len(page) < q.Limit {
			break
		}
		q.After = page[len(page)-1].Key
	}
	n, err := k.Len(l.t.Context())
	require.NoError(l.t, err)
	a.Text = fmt.Sprint(n)
	return a
}
