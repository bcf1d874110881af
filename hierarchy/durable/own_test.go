package durable_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// ownCalls are what handlers do to their own timers.
var ownCalls = map[string]func(ctx context.Context, w *strs, f firing) error{
	"Set": func(ctx context.Context, w *strs, f firing) error {
		_, err := w.Set(ctx, f.Key, "next", time.Hour)
		return err
	},
	"SetAt": func(ctx context.Context, w *strs, f firing) error {
		_, err := w.SetAt(ctx, f.Key, "next", time.Now().Add(time.Hour))
		return err
	},
	"Move": func(ctx context.Context, w *strs, f firing) error {
		_, _, err := w.Move(ctx, f.Key, time.Hour)
		return err
	},
	"Remove, then Set": func(ctx context.Context, w *strs, f firing) error {
		if _, ok, err := w.Remove(ctx, f.Key); err != nil || !ok {
			return fmt.Errorf("removed %v: %w", ok, err)
		}
		_, err := w.Set(ctx, f.Key, "next", time.Hour)
		return err
	},
	"Batch": func(ctx context.Context, w *strs, f firing) error {
		var b durable.Batch[string, string]
		for i := range 50 {
			b.Set(fmt.Sprint("other ", i), "", time.Hour)
		}
		b.Set(f.Key, "next", time.Hour)
		return w.Batch(ctx, &b)
	},
	"other goroutines, with contexts of theirs": func(ctx context.Context, w *strs, f firing) error {
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				_, errs[i] = w.Set(ctx, f.Key, "next", time.Hour)
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	},
}

// A handler sets, moves or removes its own timer, and goes on with its context, as one would write it: with Dir, and
// with Conn by whichever process owns the timer. What it returns is ignored, and its timer fires once more.
func TestHandlerChangesItsOwnTimer(t *testing.T) {
	for storage, config := range map[string]func(*testing.T) durable.Config[string, string]{
		"Dir": func(t *testing.T) durable.Config[string, string] {
			return durable.Config[string, string]{Dir: t.TempDir()}
		},
		"Conn": func(t *testing.T) durable.Config[string, string] {
			urls, _ := natsServers(t, 1)
			return durable.Config[string, string]{Conn: connect(t, urls)}
		},
	} {
		t.Run(storage, func(t *testing.T) {
			var w *strs
			opened, results := make(chan bool), make(chan error, 100)
			cfg := config(t)
			cfg.Handle = func(ctx context.Context, f firing) error {
				<-opened
				err := ownCalls[f.Key](ctx, w, f)
				if err == nil {
					err = ctx.Err()
				}
				if err == nil { // it goes on with its context
					_, err = w.Set(ctx, "after "+f.Key, "", time.Hour)
				}
				results <- err
				return errors.New("ignored")
			}
			w = open(t, cfg)
			close(opened)
			for name := range ownCalls {
				t.Run(name, func(t *testing.T) {
					require.NoError(t, errOf(w.Set(t.Context(), name, "first", 0)))
					require.NoError(t, <-results)
					_, _, ok, err := w.Get(t.Context(), "after "+name)
					require.NoError(t, err)
					require.True(t, ok)
					v, remaining, ok, err := w.Get(t.Context(), name)
					require.NoError(t, err)
					require.True(t, ok)
					require.Greater(t, remaining, time.Minute)
					if name != "Move" {
						require.Equal(t, "next", v)
					}
				})
			}
			require.Empty(t, results)
		})
	}
}

// What others do to the timer ends the context of its handler, also after the handler has changed the timer itself.
func TestOthersEndTheContextOfAHandler(t *testing.T) {
	var w *strs
	opened, set := make(chan bool), make(chan bool)
	ended := make(chan error, 1)
	w = open(t, durable.Config[string, string]{Dir: t.TempDir(), Handle: func(ctx context.Context, f firing) error {
		<-opened
		if _, err := w.Set(ctx, f.Key, "own", time.Hour); err != nil {
			return err
		}
		set <- true
		<-ctx.Done()
		ended <- errOf(w.Set(ctx, "with an ended context", "", time.Hour))
		return nil
	}})
	close(opened)
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", 0)))
	<-set
	require.NoError(t, errOf(w.Set(t.Context(), "a", "another's", time.Hour)))
	require.ErrorIs(t, <-ended, context.Canceled)
	v, _, _, err := w.Get(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "another's", v)
}
