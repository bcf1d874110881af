package limits

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// known has the limits that a Keeper has told last.
type known struct {
	mu  sync.Mutex
	all All
}

func (k *known) changed(all All) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = all
}

func (k *known) are() All {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all
}

func to(l Limit) func(Limit) (Limit, error) { return func(Limit) (Limit, error) { return l, nil } }

func scope(name string) Scope { return Scope{Prefix, name} }

func change(t *testing.T, k Keeper, s Scope, l Limit) {
	t.Helper()
	got, err := k.Change(t.Context(), s, to(l))
	require.NoError(t, err)
	require.Equal(t, l, got)
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.json")
	var now known
	open := func() *File {
		f, err := OpenFile(filelog.OS{}, path, now.changed)
		require.NoError(t, err)
		return f
	}
	f := open()
	require.Empty(t, now.are())
	change(t, f, scope("a"), Limit{Paused: true})
	change(t, f, scope("b"), Limit{Rate: 2.5})
	change(t, f, scope("a"), Limit{AtOnce: 7})
	want := All{scope("a"): {AtOnce: 7}, scope("b"): {Rate: 2.5}}
	require.Equal(t, want, now.are())
	f.Close()

	now.all = nil
	f = open()
	require.Equal(t, want, now.are())
	change(t, f, scope("a"), Limit{})
	_, err := f.Change(t.Context(), scope("b"), to(Limit{Rate: -1}))
	require.ErrorContains(t, err, "rate")
	_, err = f.Change(t.Context(), scope("b"), func(l Limit) (Limit, error) { return l, errors.New("no") })
	require.EqualError(t, err, "no")
	require.Equal(t, All{scope("b"): {Rate: 2.5}}, now.are())
	for i := range most - 1 {
		f.all[scope(fmt.Sprint(i))] = Limit{Paused: true}
	}
	_, err = f.Change(t.Context(), scope("c"), to(Limit{Paused: true}))
	require.ErrorIs(t, err, ErrMost)
	change(t, f, scope("b"), Limit{Paused: true})

	require.NoError(t, os.WriteFile(path, []byte("[{"), 0o600))
	_, err = OpenFile(filelog.OS{}, path, now.changed)
	require.ErrorIs(t, err, errUnreadable)
	require.NoError(t, os.WriteFile(path, []byte(`[{"kind":"host","name":"a/b","paused":true}]`), 0o600))
	_, err = OpenFile(filelog.OS{}, path, now.changed)
	require.ErrorIs(t, err, errUnreadable)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	_, err = OpenFile(filelog.OS{}, path, now.changed)
	require.Error(t, err)
	_, err = f.Change(t.Context(), scope("b"), to(Limit{}))
	require.ErrorIs(t, err, ErrUnkept, "it can't be written")
	require.Contains(t, now.are(), scope("b"))
}

// Wherever the power is lost, the limits are those of the last change that was made, or of the one that was being made.
func TestFileIsSynced(t *testing.T) {
	for stop := 1; ; stop++ {
		disk := memdisk.New(uint64(stop))
		require.NoError(t, disk.MkdirAll("dir"))
		require.NoError(t, disk.SyncDir("."))
		disk.StopAfter(stop)
		f, err := OpenFile(disk, "dir/limits.json", func(All) {})
		require.NoError(t, err)
		made := 0
		for n := 1; n <= 3 && err == nil; n++ {
			if _, err = f.Change(t.Context(), scope("a"), to(Limit{AtOnce: n})); err == nil {
				made = n
			}
		}
		for _, how := range memdisk.Crashes(uint64(stop), 20) {
			var now known
			_, err := OpenFile(disk.Crash(how), "dir/limits.json", now.changed)
			require.NoError(t, err)
			require.Contains(t, []int{made, made + 1}, now.all[scope("a")].AtOnce)
		}
		if made == 3 {
			return
		}
	}
}

// Servers that share a table have the same limits, and a change is made by one of them at a time.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := new(memtable.Table)
		var a, b known
		open := func(k *known) *Table {
			one, err := OpenTable(t.Context(), table.Open(), slog.New(slog.DiscardHandler), k.changed)
			require.NoError(t, err)
			return one
		}
		first, second := open(&a), open(&b)
		defer first.Close()
		change(t, first, scope("x/.. "), Limit{Paused: true})
		synctest.Wait()
		require.Equal(t, All{scope("x/.. "): {Paused: true}}, b.are())
		var both sync.WaitGroup
		for _, one := range []*Table{first, second} {
			for range 10 {
				both.Go(func() {
					_, err := one.Change(t.Context(), scope("n"), func(l Limit) (Limit, error) { return Limit{AtOnce: l.AtOnce + 1}, nil })
					require.NoError(t, err)
				})
			}
		}
		both.Wait()
		synctest.Wait()
		require.Equal(t, 20, a.are()[scope("n")].AtOnce)
		require.Equal(t, a.are(), b.are())
		change(t, second, scope("n"), Limit{})
		synctest.Wait()
		require.Equal(t, All{scope("x/.. "): {Paused: true}}, a.are())
		require.Equal(t, a.are(), b.are())
		second.Close()
		change(t, first, scope("y"), Limit{Rate: 1})
		third := open(new(known))
		defer third.Close()
		require.Equal(t, a.are(), third.all)
		require.Len(t, third.all, 2)
	})
}

// A server that heard nothing for so long that the table does not know of a deletion any more learns of it, and one whose
// watch has fallen silent learns of what it missed.
func TestTableForgetsDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := new(memtable.Table)
		var now known
		store := table.Open()
		one, err := OpenTable(t.Context(), store, slog.New(slog.DiscardHandler), now.changed)
		require.NoError(t, err)
		defer one.Close()
		other := table.Open()
		put := func(s Scope) {
			_, err := other.Put(t.Context(), keyOf(s), []byte(`{"paused":true}`), 0)
			require.NoError(t, err)
		}
		put(scope("a"))
		put(scope("b"))
		synctest.Wait()
		require.Len(t, now.are(), 2)
		one.mu.Lock()
		one.revisions[keyOf(scope("a"))] = 1 << 40 // so that it does not hear of it
		one.mu.Unlock()
		r, err := other.Get(t.Context(), keyOf(scope("a")))
		require.NoError(t, err)
		require.NoError(t, other.Delete(t.Context(), r.Key, r.Revision))
		table.Expire(0)
		time.Sleep(3 * watchTime)
		synctest.Wait()
		require.Equal(t, All{scope("b"): {Paused: true}}, now.are())
	})
}

// What this program can't read pauses: whoever has set a limit did not want more.
func TestUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := new(memtable.Table)
		store := table.Open()
		for key, value := range map[string]string{keyOf(scope("a")): "{", keyOf(scope("b")): `{"rate":-1}`, "limit.prefix.?": "{}", "limit.x": "{}", "claim.1": ""} {
			_, err := store.Put(t.Context(), key, []byte(value), 0)
			require.NoError(t, err)
		}
		var now known
		var logged strings.Builder
		one, err := OpenTable(t.Context(), store, slog.New(slog.NewTextHandler(&logged, nil)), now.changed)
		require.NoError(t, err)
		one.Close()
		require.Equal(t, All{scope("a"): {Paused: true}, scope("b"): {Paused: true}}, now.are())
		require.Equal(t, 2, strings.Count(logged.String(), "can't be read"))
	})
}

// OpenTable waits for the table as long as its context allows.
func TestTableSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := new(memtable.Table)
		store := table.Open()
		store.Cut(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := OpenTable(ctx, store, slog.New(slog.DiscardHandler), func(All) {})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
