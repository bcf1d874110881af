package simulate

import (
	"context"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// soon is the time within which all that was due has fired once there are no more faults: the lease of a dead process
// runs out, its partitions are taken over, and their logs read.
const soon = 5 * lease

// judge heals the world, waits until all that is due has fired, and checks the promises.
func (w *world) judge(ctx context.Context) {
	defer w.explain()
	w.heal()
	healed := time.Now()
	for w.pending(ctx) != "" {
		if time.Since(healed) > soon+3*lease {
			require.Fail(w.t, "it is not over", "%s", w.pending(ctx))
		}
		time.Sleep(time.Second)
	}
	w.history.Check(w.t)
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, t := range w.timers {
		w.check(key, t, w.firings[key])
	}
}

// heal ends all faults but those that come to pass all the time.
func (w *world) heal() {
	for _, d := range w.disks {
		d.SetSilent(false)
		d.SetFull(false)
		d.Arrive()
	}
}

// pending returns the key of a timer that is due, or why that is unknown, or "".
func (w *world) pending(ctx context.Context) (key string) {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p := w.any(w.chance.branch())
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

// check checks the firings of a timer: at least one, unless it was removed, none early, and each with the same ID, by
// owners that follow one another.
func (w *world) check(key string, t *timer, all []firing) {
	if len(all) == 0 && !t.unknown && t.removed.IsZero() {
		require.Fail(w.t, "a timer was lost", key)
	}
	for i, f := range all {
		require.False(w.t, f.at.Before(t.due), "%s fired %v early", key, t.due.Sub(f.at))
		// A handler may be called just before the removal, and come to its first line just after. Then its context is done.
		require.False(w.t, !t.removed.IsZero() && f.at.After(t.removed) && !f.over, "%s fired %v after it was removed", key, f.at.Sub(t.removed))
		if i > 0 {
			require.Equal(w.t, all[0].ID, f.ID, key)
			require.GreaterOrEqual(w.t, f.Epoch, all[i-1].Epoch, key)
		}
	}
}

// explain logs what has happened, if the test has failed.
func (w *world) explain() {
	if w.t.Failed() {
		w.t.Log(strings.Join(w.events, "\n"))
	}
}
