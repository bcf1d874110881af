package partition

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// settled waits until trimming has nothing to do.
func (b *bench) settled() {
	b.Eventually(func() bool {
		b.p.mu.Lock()
		defer b.p.mu.Unlock()
		return b.p.core.IsTrimmed()
	}, 20*time.Second, 100*time.Microsecond)
}

// The log is never much larger than twice what is live.
func TestLogStaysSmall(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 2 << 20
	b.open()
	for i := range 100 { // live throughout
		b.set(fmt.Sprint("live ", i), "value", time.Hour)
	}
	for i := range 40 {
		c := &core.Call{}
		for j := range 1000 {
			c.Ops = append(c.Ops, core.Op{Kind: frame.Set, Key: fmt.Append(nil, j), Value: make([]byte, 100), In: time.Hour})
		}
		b.NoError(b.p.Do(t.Context(), c))
		b.settled()
		stats := b.p.Stats()
		b.LessOrEqual(stats.LogBytes, 2*stats.LiveBytes+b.cfg.TrimAbove, "%d", i)
		b.LessOrEqual(b.disk.Size(), int(2*stats.LiveBytes+b.cfg.TrimAbove)+(1<<20))
	}
	b.Greater(b.disk.Trims, 0)
	b.Less(b.disk.Trims, 10) // a deletion is expensive
	b.crash()
	b.open()
	b.Len(b.keys(false), 1100)
	for i := range 100 {
		v, left := b.get(fmt.Sprint("live ", i))
		b.Equal("value", v)
		b.Equal(time.Hour, left)
	}
}

// Whatever the state of a timer is, it is the same after it was written again, also when the
// process dies at any frame of trimming.
func TestTrimmingKeepsAllStates(t *testing.T) {
	for deaths := range 25 {
		b := newBench(t)
		b.cfg.TrimAbove = 1 << 30
		b.setAllStates()
		before := b.allStates()
		b.crash()
		b.cfg.TrimAbove = 50
		b.openDying(deaths)
		for i := range 20 { // what has trimming go on
			if _, err := b.try(core.Op{Kind: frame.Set, Key: []byte("other"), In: time.Duration(i)}); err != nil {
				break
			}
		}
		b.crash()
		b.cfg.TrimAbove = 1 << 30
		b.open()
		b.Equal(before, b.allStates(), "%d", deaths)
		b.Equal(uint64(0), b.p.Stats().Trimmed)
		b.crash()
	}
}

// setAllStates opens the partition and sets timers in all states.
func (b *bench) setAllStates() {
	b.handle = failing(b)
	b.open()
	b.set("waits", "1", time.Hour)
	b.setAt("wall", "2", b.mock.Now().Add(2*time.Hour))
	b.set("moved", "3", time.Minute)
	b.move("moved", 3*time.Hour)
	b.set("fails", "4", 0)
	b.mock.Add(0)
	b.set("dead", "5", 0)
	for range 3 {
		b.mock.Add(10 * time.Second)
		b.move("fails", 0)
	}
	b.mock.Add(0)
}

// allStates is all that is known of the timers of setAllStates.
func (b *bench) allStates() map[string]string {
	all := map[string]string{}
	for _, k := range []string{"waits", "wall", "moved", "fails", "dead"} {
		tm, ref, ok := b.p.core.State.Find([]byte(k))
		b.True(ok, k)
		until, wall := b.p.core.State.Until(ref)
		all[k] = fmt.Sprint(tm.Value, tm.Due, tm.ID, tm.Attempt, tm.Wall, tm.Dead, until, wall)
	}
	return all
}

// openDying opens the partition. Its process dies in the frame that follows so many others.
func (b *bench) openDying(frames int) {
	b.log = b.disk.Open()
	log, appends := b.log, 0
	var p *Partition
	log.SetFault(func([]byte) memlog.Fault {
		if appends++; appends == frames+2 { // the first is the takeover
			go func() { log.Close(); p.writer.abandon() }()
			return []memlog.Fault{memlog.Drop, memlog.Silence}[frames%2]
		}
		return memlog.None
	})
	p, err := Open(b.t.Context(), b.cfg.with(log))
	b.NoError(err)
	b.p = p
}

// Frames that a deletion has left do not count.
func TestInterruptedDeletion(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 500
	b.open()
	b.set("a", "1", time.Hour)
	b.set("b", "1", time.Hour)
	b.remove("b")
	for range 50 {
		b.set("c", "", time.Hour)
		b.settled()
	}
	b.Greater(b.p.core.Head.Begin, uint64(4))
	b.Zero(b.disk.Trims)
	b.crash()
	b.disk.Change(2, nil) // it was deleted before frame 1
	b.open()
	b.Equal(map[string]string{"a": "1", "c": ""}, b.keys(false))
	b.crash()
	b.NoError(b.disk.Open().Trim(t.Context(), 3))
	b.open()
	b.Equal(map[string]string{"a": "1", "c": ""}, b.keys(false))
}

// Trimming goes on while one large call follows the other.
func TestTrimmingBesideLargeCalls(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		value := make([]byte, 600<<10)
		stop := make(chan bool)
		ended := make(chan bool)
		const callers = 8 // so that some wait always
		for i := range callers {
			go func() {
				defer func() { ended <- true }()
				for {
					select {
					case <-stop:
						return
					default:
					}
					b.NoError(b.p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte{byte(i)}, Value: value, In: time.Hour}}}))
				}
			}()
		}
		appends, p := 0, b.p
		var most int64
		b.log.SetFault(func([]byte) memlog.Fault {
			if appends++; appends == 150 {
				close(stop)
			}
			p.mu.Lock() // the writer is in Append, and does not hold it
			most = max(most, p.core.Total)
			p.mu.Unlock()
			return memlog.None
		})
		for range callers {
			<-ended
		}
		b.log.SetFault(nil)
		b.LessOrEqual(most, 2*b.p.Stats().LiveBytes+b.cfg.TrimAbove+20<<20)
		b.shut()
	})
}

// A log whose size is limited never becomes full if half of that is live, however large TrimAbove is.
func TestLimitedLogIsTrimmedBeforeItIsFull(t *testing.T) {
	const most = 1 << 20
	for _, live := range []int{1, most / 4, most / 2} {
		b := newBench(t)
		b.cfg.TrimAbove = 1 << 30
		b.disk.SetMost(most)
		b.open()
		value := make([]byte, 1000)
		keys := max(1, live/(len(value)+50)) // with what a frame needs for a timer
		for i := range 4 * most / len(value) {
			b.set(fmt.Sprint(i%keys), string(value), time.Hour)
		}
		b.reopen()
		b.Len(b.keys(false), keys)
		b.Less(b.disk.Trims, 200)
		b.crash()
	}
}

// An owner learns of a limit that was set while it writes.
func TestLimitSetLater(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.TrimAbove = 1 << 30
		b.open()
		b.setMany(300)
		b.disk.SetMost(1 << 20)
		b.NoError(b.p.Look(b.t.Context()))
		b.setMany(3000)
		b.disk.SetMost(0)
		b.NoError(b.p.Look(b.t.Context()))
		b.settled()
		synctest.Wait()
		trims := b.disk.Trims
		b.setMany(3000)
		b.Equal(trims, b.disk.Trims)
		b.shut()
	})
}
