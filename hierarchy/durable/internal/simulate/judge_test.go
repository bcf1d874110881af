package simulate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// judge checks the promises.
func (w *world) judge() {
	w.history.Check(w.t)
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, t := range w.timers {
		w.check(key, t, w.firings[key])
	}
	for _, keys := range w.batches {
		w.checkBatch(keys)
	}
	for at := range partitions {
		key := fmt.Sprint("run ", at)
		w.checkRuns(key, w.firings[key], time.Now())
		w.checkPauses(pausedKey(at), w.firings[pausedKey(at)])
	}
	if len(w.wrongs) > 0 {
		require.Fail(w.t, "promises did not hold", "%s", strings.Join(w.wrongs, "\n"))
	}
}

// checkCounts checks that there are as many timers as are listed, that schedules are among them, and that those are dead
// whose last attempt was made.
func (w *world) checkCounts(ctx context.Context) {
	for at := range partitions {
		runs, listed := 0, 0
		p := w.any(w.chance.branch()).api()
		before, err := p.Count(ctx, at)
		require.NoError(w.t, err)
		err = p.All(ctx, at, false, func(t state.Timer) bool {
			listed++
			if strings.HasPrefix(t.Key, "run") {
				runs++
			}
			return true
		})
		require.NoError(w.t, err)
		w.mu.Lock()
		if before < listed-8 || before > listed+8 || runs != 1 { // timers may be tried again
			w.wrong("count: partition %d says %d timers, lists %d, and has %d schedules", at, before, listed, runs)
		}
		w.mu.Unlock()
		err = p.All(ctx, at, true, func(t state.Timer) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			if t.Attempt != attempts {
				w.wrong("dead: %q after %d attempts", t.Key, t.Attempt)
			}
			return true
		})
		require.NoError(w.t, err)
		w.checkSizes(at)
	}
}

// mostLog is how large a log is at most in addition to what it is allowed for timers: what is trimmed at once, and what is
// written meanwhile.
const mostLog = 30_000

// checkSizes checks that the owner of a partition has nothing in memory, or in its log, of what is over.
func (w *world) checkSizes(at int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.living {
		owner, _ := p.cluster.Partition(at)
		if owner == nil {
			continue
		}
		st := owner.Stats()
		if st.Running > 2 || st.Stuck > 0 {
			w.wrong("memory: %d attempts are running in partition %d", st.Running, at)
		}
		if most := st.LiveBytes*13/8 + mostLog; st.LogBytes > most {
			w.wrong("memory: log %d has %d bytes, and should have %d", at, st.LogBytes, most)
		}
	}
}

// pending returns the key of a timer that is due, or why that is unknown, or "".
func (w *world) pending(ctx context.Context) (key string) {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p := w.any(w.chance.branch()).api()
	for at := range partitions {
		err := p.All(limited, at, false, func(t state.Timer) bool {
			if strings.HasPrefix(t.Key, "timer") {
				key = t.Key
			}
			return key == ""
		})
		if err != nil {
			return err.Error()
		}
		if key != "" {
			return key
		}
	}
	return ""
}

// check checks the firings of a timer: at least one, unless it was removed, and none after that.
func (w *world) check(key string, t *timer, all []*firing) {
	if len(all) == 0 && !t.unknown && t.removed.IsZero() {
		w.wrong("lost: %q has not fired", key)
	}
	if len(all) > 0 && t.refused {
		w.wrong("closed: %q fires, though the call ended with what says that it was not set", key)
	}
	for i, f := range all {
		same := !t.twice || f.ID == t.id // the removal is of the second timer of one that is set twice
		// A handler may be called just before the removal, and come to its first line just after. Then its context is done.
		if !t.removed.IsZero() && f.at.After(t.removed) && !f.over {
			w.wrong("removed: %q fires %v later", key, f.at.Sub(t.removed))
		}
		if same && t.untouched >= f.Epoch && !f.over && !w.logs[f.Partition].changedHands(f.Epoch, t.untouched) {
			w.wrong("removed: %q fires, though its removal says that it has not", key)
		}
		if f.ofOwner() && t.in > 0 {
			w.checkDuration(t, f)
		}
		if i == 0 {
			w.checkLate(t, f)
		}
		if t.id != (frame.ID{}) && f.ID != t.id && !t.twice {
			w.wrong("ID: %q has %v, and the answer said %v", key, f.ID, t.id)
		}
		if f.ID != all[0].ID && !t.twice {
			w.wrong("doubled: %q has two IDs, %v and %v", key, all[0].ID, f.ID)
		}
		if t.in == 0 {
			w.checkWall(f)
		}
		if i > 0 && f.ID == all[i-1].ID { // else it is set twice
			w.checkNext(all[i-1], f)
			w.checkWritten(t, all[i-1], f)
		}
	}
}

// checkDuration checks that a timer that its owner has set does not fire before its time. The time until a message
// arrives is measured by the process that sends it, so either clock may be the faster one.
func (w *world) checkDuration(t *timer, f *firing) {
	least := time.Duration(float64(t.in) / max(t.rate, f.clock.rate))
	if early := least - f.at.Sub(t.begun); early > time.Microsecond { // times are rounded
		w.wrong("early: %q fires %v before its time", f.Key, early)
	}
}

// checkWall checks that a timer does not fire before its wall time. Later attempts are due by the time of their owner.
func (w *world) checkWall(f *firing) {
	if early := f.Due - f.latest.UnixNano(); early > 0 && f.Attempt == 1 {
		w.wrong("early: %q fires %v before its wall time", f.Key, time.Duration(early))
	}
}

// checkNext checks an attempt after another one of the same run.
func (w *world) checkNext(last, f *firing) {
	if f.Epoch < last.Epoch && !f.over {
		w.wrong("owners: %q fires by owner %d after owner %d", f.Key, f.Epoch, last.Epoch)
	}
	if !last.logged.IsZero() && f.at.After(last.logged) { // an attempt that was left may end while the next one begins
		w.wrong("ended: attempt %d of %q begins at %v by owner %d, though attempt %d by owner %d ended successfully at %v",
			f.Attempt, f.Key, f.at.Sub(w.begun), f.Epoch, last.Attempt, last.Epoch, last.logged.Sub(w.begun))
	}
	if f.Epoch != last.Epoch || !last.done {
		return
	}
	if !last.failed {
		w.wrong("repeated: attempt %d of %q begins at %v by owner %d, and attempt %d, which began at %v, has succeeded",
			f.Attempt, f.Key, f.at.Sub(w.begun), f.Epoch, last.Attempt, last.at.Sub(w.begun))
	} else if f.Attempt != last.Attempt+1 || f.elapsed-last.ended < backoff {
		w.wrong("backoff: attempt %d of %q is %v after attempt %d", f.Attempt, f.Key, f.elapsed-last.ended, last.Attempt)
	} else {
		w.checkLateNext(last, f)
	}
}

// checkRuns checks that a schedule's runs follow each other: none is doubled, or skipped unless it may be.
func (w *world) checkRuns(key string, all []*firing, until time.Time) {
	if len(all) == 0 {
		w.wrong("schedule: %q never runs", key)
		return
	}
	for i, f := range all {
		w.checkWall(f)
		if i == 0 {
			continue
		}
		if last := all[i-1]; last.ID == f.ID {
			w.checkNext(last, f)
		} else if d := time.Duration(f.Due - last.Due); d != period*time.Duration(f.Missed+1) && !skips(f, d) {
			w.wrong("schedule: a run of %q is due %v after the last one, and stands for %d others", key, d, f.Missed)
		} else {
			w.checkLateRun(last, f)
		}
	}
	if late := until.UnixNano() - all[len(all)-1].Due; late > int64(punctual) {
		w.wrong("schedule: %q has not run for %v", key, time.Duration(late))
	}
}

// skips reports whether so much time may be between a run and the last one, because runs in between were missed. When the
// next one is due is judged with the frame that says it.
func skips(f *firing, d time.Duration) bool {
	return strings.Contains(f.Schedule, "skip") && f.Missed == 0 && d > 0 && d%period == 0
}
