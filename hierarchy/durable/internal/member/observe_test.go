package member

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// observing is a process that observes.
type observing struct {
	*Observer
	*process
	said bytes.Buffer
}

func (w *world) observe() *observing {
	o := &observing{process: w.process(0)}
	o.cfg.Logger = slog.New(slog.NewTextHandler(&o.said, nil))
	var err error
	o.Observer, err = Observe(w.Context(), o.cfg)
	require.NoError(w, err)
	w.Cleanup(o.Observer.Stop)
	return o
}

// wrote is how often the process has changed the table, or tried to.
func (o *observing) wrote() int64 { return o.counts[0].Load() + o.counts[1].Load() }

// A partition has no owner if nobody has its claim, or who has it is silent for as long as a member would wait.
func TestUnowned(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.claim(0)
		w.at(time.Second)
		o := w.observe()
		requireOwned := func(partition int, since time.Duration) {
			w.Helper()
			at, unowned := o.Observer.Unowned(partition)
			require.Equal(w, since >= 0, unowned)
			if unowned {
				require.Equal(w, w.begun.Add(since), at)
			}
		}
		requireOwned(0, -1)
		requireOwned(1, time.Second) // as long as it looks
		w.at(time.Minute)
		a.claim(1)
		requireOwned(1, -1)
		renewed := time.Minute // a renewal, each four seconds
		a.store.Cut(true)
		w.at(renewed + waited(testLease))
		requireOwned(0, -1)
		w.at(renewed + waited(testLease) + 1)
		requireOwned(0, renewed)
		requireOwned(1, renewed)
		a.store.Cut(false)
		w.at(3 * time.Minute)
		requireOwned(0, -1)
		require.NoError(w, a.Give(w.Context(), 0, 0))
		w.at(3*time.Minute + time.Second)
		requireOwned(0, 3*time.Minute)
		require.NoError(w, a.Resign(w.Context()))
		w.at(4 * time.Minute)
		requireOwned(0, 3*time.Minute)
		requireOwned(1, 3*time.Minute+time.Second)
		require.Zero(w, o.wrote())
	})
}

// While nobody lives, an Observer looks again now and then, and warns once.
func TestObserverOfTheDead(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.join(1)
		a.claim(0)
		o := w.observe()
		a.store.Cut(true)
		a.Stop()
		w.at(time.Hour)
		require.Equal(w, []ID{1}, o.Observer.View().Living()) // nobody has deleted its record
		_, unowned := o.Observer.Unowned(0)
		require.True(w, unowned)
		require.Equal(w, 1, strings.Count(o.said.String(), "silent"))
		require.LessOrEqual(w, o.counts[3].Load(), int64(time.Hour/shown(testLease))+1)
		o.store.Mute()
		b := w.join(2)
		w.at(time.Hour + time.Minute) // it has deleted the record of the other
		b.claim(0)
		w.at(2 * time.Hour)
		require.Equal(w, []ID{2}, o.Observer.View().Living())
		_, unowned = o.Observer.Unowned(0)
		require.False(w, unowned)
	})
}

func TestObserveWithoutTheTable(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process(0)
		p.fail(only("watch", memtable.Fault{Drop: true}))
		_, err := Observe(w.soon(), p.cfg)
		require.ErrorIs(w, err, context.DeadlineExceeded)
		p.cfg.Store = nil
		_, err = Observe(w.Context(), p.cfg)
		require.Error(w, err)
	})
}

// Like a member, an Observer is of no use where it does not understand the claims.
func TestObserveLaterVersion(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.process(0)
		_, err := p.store.Put(w.Context(), claimKey(0), []byte(`{"version":2}`), 0)
		require.NoError(w, err)
		_, err = Observe(w.Context(), p.cfg)
		require.ErrorIs(w, err, errVersion)
	})
}
