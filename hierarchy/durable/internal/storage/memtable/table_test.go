package memtable

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/tabletest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestContract(t *testing.T) {
	tabletest.Run(t, func(t *testing.T) func() storage.Table {
		table1 := new(Table)
		return func() storage.Table { return table1.Open() }
	})
}

// with calls f with a table in a bubble, and a context that ends after a second.
func with(t *testing.T, f func(t *testing.T, ctx context.Context, s *Store)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		f(t, ctx, new(Table).Open())
	})
}

func fault(f Fault) func(Call) Fault { return func(Call) Fault { return f } }

func TestFaults(t *testing.T) {
	failed := errors.New("failed")
	for name, test := range map[string]struct {
		fault Fault
		err   error
		takes time.Duration
		done  bool
	}{
		"none":    {done: true},
		"slow":    {Fault{Before: time.Millisecond, After: time.Millisecond}, nil, 2 * time.Millisecond, true},
		"late":    {Fault{Before: time.Minute}, context.DeadlineExceeded, time.Second, false},
		"unheard": {Fault{After: time.Minute}, context.DeadlineExceeded, time.Second, true},
		"dropped": {Fault{Drop: true}, context.DeadlineExceeded, time.Second, false},
		"lost":    {Fault{Lose: true}, context.DeadlineExceeded, time.Second, true},
		"failed":  {Fault{Drop: true, Err: failed}, failed, 0, false},
		"refused": {Fault{Err: storage.ErrRefused}, storage.ErrRefused, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, func(t *testing.T, ctx context.Context, s *Store) {
				s.SetFault(fault(test.fault))
				begun := time.Now()
				_, err := s.Put(ctx, "x", []byte("a"), 0)
				require.ErrorIs(t, err, test.err)
				require.Equal(t, test.takes, time.Since(begun))
				require.Equal(t, test.done, len(s.table.All()) == 1)
				time.Sleep(time.Hour)
				require.Equal(t, test.done || test.fault.Before > 0, len(s.table.All()) == 1)
			})
		})
	}
}

func TestCut(t *testing.T) {
	with(t, func(t *testing.T, ctx context.Context, s *Store) {
		s.Cut(true)
		_, err := s.Put(ctx, "x", nil, 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		s.Cut(false)
		require.Empty(t, s.table.All())
		_, err = s.Put(t.Context(), "x", nil, 0)
		require.NoError(t, err)
	})
}

func TestBehind(t *testing.T) {
	with(t, func(t *testing.T, ctx context.Context, s *Store) {
		n, err := s.Put(ctx, "x", []byte("a"), 0)
		require.NoError(t, err)
		m, err := s.Put(ctx, "x", []byte("b"), n)
		require.NoError(t, err)
		s.SetFault(fault(Fault{Behind: 1}))
		r, err := s.Get(ctx, "x")
		require.NoError(t, err)
		require.Equal(t, n, r.Revision)
		changes, err := s.Watch(ctx)
		require.NoError(t, err)
		require.Equal(t, n, (<-changes).Revision)
		require.True(t, (<-changes).All)
		require.Equal(t, m, (<-changes).Revision)
	})
}

func TestWatchStandsStill(t *testing.T) {
	for name, stop := range map[string]func(*Store, bool){
		"cut": (*Store).Cut, "held": (*Store).Hold, "paused": (*Store).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			with(t, func(t *testing.T, ctx context.Context, s *Store) {
				changes, err := s.Watch(ctx)
				require.NoError(t, err)
				require.True(t, (<-changes).All)
				stop(s, true)
				_, err = s.table.Open().Put(ctx, "x", nil, 0)
				require.NoError(t, err)
				synctest.Wait()
				select {
				case <-changes:
					require.Fail(t, "nothing comes")
				default:
				}
				stop(s, false)
				require.Equal(t, "x", (<-changes).Key)
			})
		})
	}
}

func TestMute(t *testing.T) {
	with(t, func(t *testing.T, ctx context.Context, s *Store) {
		changes, err := s.Watch(ctx)
		require.NoError(t, err)
		require.True(t, (<-changes).All)
		s.Mute()
		_, err = s.Put(ctx, "x", nil, 0)
		require.NoError(t, err)
		for range changes {
			require.Fail(t, "nothing comes until the context ends")
		}
	})
}

// A process that is stopped neither begins calls nor gets answers, and its contexts don't help it.
func TestPause(t *testing.T) {
	with(t, func(t *testing.T, ctx context.Context, s *Store) {
		s.Pause(true)
		time.AfterFunc(time.Hour, func() { s.Pause(false) })
		begun := time.Now()
		_, err := s.Put(ctx, "x", nil, 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Hour, time.Since(begun))
		require.Empty(t, s.table.All())
	})
}

// What compact takes out is not missed, and deletions are forgotten only by Expire.
func TestHistory(t *testing.T) {
	with(t, func(t *testing.T, ctx context.Context, s *Store) {
		require.NoError(t, s.Delete(ctx, "gone", 0))
		first, err := s.Put(ctx, "first", nil, 0)
		require.NoError(t, err)
		last := uint64(0)
		for range 20 * history {
			last, err = s.Put(ctx, "x", nil, last)
			require.NoError(t, err)
			require.LessOrEqual(t, len(s.table.log), 4*history)
		}
		r, err := s.Get(ctx, "first")
		require.NoError(t, err)
		require.Equal(t, first, r.Revision)
		r, err = s.Get(ctx, "gone")
		require.ErrorIs(t, err, storage.ErrAbsent)
		require.True(t, r.Deleted)
		s.table.Expire(time.Nanosecond)
		r, _ = s.Get(ctx, "gone")
		require.True(t, r.Deleted, "it is not so old")
		s.table.Expire(0)
		r, err = s.Get(ctx, "gone")
		require.ErrorIs(t, err, storage.ErrAbsent)
		require.False(t, r.Deleted)
		require.Len(t, s.table.All(), 2)
	})
}
