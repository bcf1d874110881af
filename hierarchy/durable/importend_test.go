package durable

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// endingContext is a context that is done as soon as a function says so.
type endingContext struct {
	context.Context
	over func() bool
}

func (c endingContext) Err() error {
	if c.over() {
		return context.Canceled
	}
	return nil
}

// ending is a reader that calls a function at its end.
type ending struct {
	io.Reader
	at func()
}

func (r ending) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err == io.EOF {
		r.at()
	}
	return n, err
}

func linesOf(n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"key":"%d","value":1,"id":"%032x","due":"2200-01-01T00:00:00Z","state":"waiting"}`+"\n", i, i+1)
	}
	return lines.String()
}

// An Import whose context ends says so, also if all that was added has just been committed.
func TestImportWhoseContextEnds(t *testing.T) {
	open := func(t *testing.T) *Keyed[string, string] {
		w, err := Open(t.Context(), Config[string, string]{Dir: t.TempDir(), Clock: clock.NewMock(),
			Handle: func(context.Context, Firing[string, string]) error { return nil }})
		require.NoError(t, err)
		t.Cleanup(func() { _ = w.Close() })
		return w
	}
	t.Run("after a batch", func(t *testing.T) {
		w := open(t)
		ctx := endingContext{t.Context(), func() bool { return w.Stats().Pending == importOps }}
		n, err := w.Import(ctx, strings.NewReader(linesOf(2*importOps)))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, importOps, n)
	})
	end := fmt.Sprintf(`{"timers":%d}`, importOps)
	for last, want := range map[string]error{"": context.Canceled, end: nil} {
		t.Run("at the end "+last, func(t *testing.T) {
			w := open(t)
			ctx, cancel := context.WithCancel(t.Context())
			n, err := w.Import(ctx, ending{strings.NewReader(linesOf(importOps) + last), cancel})
			require.ErrorIs(t, err, want)
			require.NotErrorIs(t, err, ErrIncomplete)
			require.Equal(t, importOps, n)
		})
	}
}

// An export without its last line, or with a wrong number there, keeps no other from being imported.
func TestImportOfSeveralExportsOfParts(t *testing.T) {
	lines := strings.SplitAfter(linesOf(6), "\n")
	first, second := strings.Join(lines[:3], ""), strings.Join(lines[3:], "")
	for in, want := range map[string]string{
		first + "{\"timers\":5}\n" + second + `{"timers":3}`:     "durable: line 4: the lines are not complete: there should be 5 timers, and are 3",
		first + "{\"timers\":5}\n" + second + `{"timers":2}`:     "durable: line 4: the lines are not complete: there should be 5 timers, and are 3",
		first + "{\"timers\":5}\n" + second:                      "durable: line 4: the lines are not complete: there should be 5 timers, and are 3",
		first + second + "{\"timers\":3}\n":                      "durable: line 7: the lines are not complete: there should be 3 timers, and are 6",
		first + "{\"timers\":3}\n" + second + "{\"timers\":4}\n": "durable: line 8: the lines are not complete: there should be 4 timers, and are 3",
	} {
		w, err := Open(t.Context(), Config[string, string]{Dir: t.TempDir(), Clock: clock.NewMock(),
			Handle: func(context.Context, Firing[string, string]) error { return nil }})
		require.NoError(t, err)
		n, err := w.Import(t.Context(), strings.NewReader(in))
		require.ErrorIs(t, err, ErrIncomplete)
		require.EqualError(t, err, want)
		require.Equal(t, 6, n)
		require.Equal(t, 6, w.Stats().Pending)
		require.NoError(t, w.Close())
	}
	w, err := Open(t.Context(), Config[string, string]{Dir: t.TempDir(), Clock: clock.NewMock(),
		Handle: func(context.Context, Firing[string, string]) error { return nil }})
	require.NoError(t, err)
	defer w.Close()
	_, err = w.Import(t.Context(), strings.NewReader(first+"{\"timers\":5}\n"+second+"{}"))
	require.ErrorIs(t, err, ErrArgument)
	require.NotErrorIs(t, err, ErrIncomplete, "a program may ignore that")
}
