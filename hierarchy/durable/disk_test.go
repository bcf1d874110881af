package durable

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memdisk"
	"github.com/epicycle-go/epicycle/tests/long"
)

// diskLog is a log on a disk in memory, which is always where it was.
type diskLog struct{ *filelog.Log }

func (diskLog) Gone() error { return nil }
func (l diskLog) Close()    { l.Log.Close() }

// openOn opens timers on a disk in memory. The log is trimmed when it is much smaller than usual.
func openOn(t *testing.T, disk *memdisk.Disk, handle func(string)) (*Keyed[string, string], error) {
	w, err := newKeyed(Config[string, string]{Dir: "data", Handle: func(_ context.Context, f Firing[string, string]) error {
		handle(f.Value)
		return nil
	}})
	require.NoError(t, err)
	log, err := filelog.Open(disk, "data/logs/timers")
	if err == nil {
		cfg := w.config()
		cfg.common.TrimAbove = 64 << 10
		w.owners, err = own(t.Context(), cfg, diskLog{log}, nil)
	}
	if err != nil {
		w.crew.Close()
	}
	return w, err
}

// promised is what the timers of one caller may be.
type promised struct {
	is    map[string]string // by key: the value that was acknowledged
	key   string            // of the call that had no answer, or ""
	maybe string            // the value of its timer if it was committed, "" if there is none then
}

// work sets and removes timers until that fails.
func (p *promised) work(ctx context.Context, w *Keyed[string, string], rng *rand.Rand, name string) {
	for n := 0; ; n++ {
		key, value := fmt.Sprint(name, rng.IntN(20)), ""
		var err error
		if rng.IntN(4) == 0 {
			_, _, err = w.Remove(ctx, key)
		} else {
			value = fmt.Sprint(name, n, strings.Repeat("v", rng.IntN(2000)))
			_, err = w.Set(ctx, key, value, time.Hour)
		}
		if err != nil {
			p.key, p.maybe = key, value
			return
		}
		p.is[key] = value
	}
}

// A loss of power at any moment takes nothing away that was acknowledged, and brings nothing back that was removed. What
// had no answer may have happened.
func TestLossesOfPower(t *testing.T) {
	t.Parallel() // it takes long
	seeds := uint64(60)
	if long.On() {
		seeds = 1000
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { losePower(t, seed) })
	}
}

func losePower(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	disk, callers := memdisk.New(seed), make([]promised, 4)
	for i := range callers {
		callers[i].is = make(map[string]string)
	}
	for life := range uint64(3) {
		disk.StopAfter(disk.Changes() + 1 + rng.IntN(400))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for !disk.Ended() {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		w, err := openOn(t, disk, func(string) { t.Error("nothing is due") })
		if err == nil {
			var working sync.WaitGroup
			for i := range callers {
				r := rand.New(rand.NewPCG(seed, life<<8|uint64(i)+1))
				working.Go(func() { callers[i].work(ctx, w, r, fmt.Sprint(life, "caller", i, "-")) })
			}
			working.Wait()
			require.NoError(t, w.Close())
		}
		<-ctx.Done()
		synctest.Wait()
		disk = disk.Crash(memdisk.Crash{Seed: seed*3 + life, Torn: seed%2 == 1, AnyChanges: seed%4 > 1})
		w, err = openOn(t, disk, func(string) { t.Error("nothing is due") })
		require.NoError(t, err)
		for i := range callers {
			callers[i].check(t, w)
		}
		require.NoError(t, w.Close())
		disk = disk.Restart()
	}
}

// check finds all timers as they must be, and takes for acknowledged what has happened without an answer.
func (p *promised) check(t *testing.T, w *Keyed[string, string]) {
	if p.key != "" {
		e, ok, err := w.Lookup(t.Context(), p.key)
		require.NoError(t, err)
		if e.Value == p.maybe && ok == (p.maybe != "") {
			p.is[p.key] = p.maybe
		}
		p.key = ""
	}
	for key, value := range p.is {
		e, ok, err := w.Lookup(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, value != "", ok, key)
		require.Equal(t, value, e.Value, key)
	}
}

// While the disk hangs, calls end with their contexts, Health says so, and Close does not wait for it. Afterwards all goes
// on.
func TestDiskThatHangs(t *testing.T) {
	for _, closing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			disk := memdisk.New(1)
			w, err := openOn(t, disk, func(string) {})
			require.NoError(t, err)
			release := disk.Hang()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err = w.Set(ctx, "a", "1", time.Hour)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, w.Health(), "the disk has not answered for 10s")
			_, err = w.Set(t.Context(), "b", "1", time.Hour)
			require.ErrorIs(t, err, ErrUnavailable)
			require.ErrorContains(t, err, "the disk has not answered")
			if !closing {
				release()
				time.Sleep(5 * time.Second) // until it is known what has become of the first call
				_, err = w.Set(t.Context(), "a", "2", time.Hour)
				require.NoError(t, err)
				require.NoError(t, w.Health())
				require.NoError(t, w.Close())
				return
			}
			begun := time.Now()
			_ = w.Close()
			require.LessOrEqual(t, time.Since(begun), time.Second)
			release()
			synctest.Wait()
			require.Zero(t, disk.OpenFiles())
		})
	}
}

// On a full disk calls wait, and go on when there is room. Nothing is lost.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := memdisk.New(1)
		w, err := openOn(t, disk, func(string) {})
		require.NoError(t, err)
		disk.SetRoom(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		set := 0
		for ; err == nil; set++ {
			_, err = w.Set(ctx, fmt.Sprint(set), strings.Repeat("v", 10_000), time.Hour)
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, w.Health(), "the disk is full")
		disk.SetRoom(0)
		_, err = w.Set(t.Context(), "last", "", time.Hour)
		require.NoError(t, err)
		require.NoError(t, w.Health())
		n, err := w.Len(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, set)
		require.NoError(t, w.Close())
		w, err = openOn(t, disk, func(string) {})
		require.NoError(t, err)
		require.NoError(t, w.Close())
	})
}

// After a failed sync nothing is acknowledged until the timers are opened again, also in the same process.
func TestFailedSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := memdisk.New(1)
		w, err := openOn(t, disk, func(string) {})
		require.NoError(t, err)
		_, err = w.Set(t.Context(), "a", "1", time.Hour)
		require.NoError(t, err)
		disk.FailNth(memdisk.Sync, 1, syscall.EIO)
		failed := time.Now()
		for range 3 {
			_, err = w.Set(t.Context(), "a", "2", time.Hour)
			require.ErrorIs(t, err, ErrUnavailable)
			require.ErrorContains(t, err, filelog.ErrLost.Error())
		}
		require.Less(t, time.Since(failed), time.Second, "nothing is to be waited for")
		require.True(t, errors.Is(w.Health(), filelog.ErrLost))
		_ = w.Close()
		w, err = openOn(t, disk, func(string) {})
		require.NoError(t, err)
		_, err = w.Set(t.Context(), "b", "3", time.Hour)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		w, err = openOn(t, disk.Crash(memdisk.Crash{Seed: 7}), func(string) {})
		require.NoError(t, err)
		e, _, err := w.Lookup(t.Context(), "a")
		require.NoError(t, err)
		require.Contains(t, []string{"1", "2"}, e.Value)
		e, _, err = w.Lookup(t.Context(), "b")
		require.NoError(t, err)
		require.Equal(t, "3", e.Value)
		require.NoError(t, w.Close())
	})
}
