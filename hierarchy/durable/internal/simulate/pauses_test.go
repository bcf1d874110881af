package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// pause is a time in which a schedule was paused for sure: from the answer to a Pause until a Resume was requested.
type pause struct{ from, to time.Time }

// pausedKey is the key of a schedule that is paused and resumed.
func pausedKey(at int) string { return fmt.Sprint("pause ", at) }

// pauses pauses and resumes a schedule, by whichever process, until the end. What is not answered may take hold later, so
// nothing is sure then until the next round.
func (w *world) pauses(ctx context.Context, at int, r *rand.Rand, end time.Time) {
	key := pausedKey(at)
	ask := func(op core.Op) bool {
		p := w.any(r)
		a, limited, cancel := p.asks(ctx, at, 2*giveUp)
		defer cancel()
		_, err := do(limited, p.api(), key, op)
		a.ended(err)
		return err == nil
	}
	sure := ask(core.Op{Kind: frame.SetAt, If: core.IfAbsent, Schedule: fmt.Appendf(nil, "@every %v", period)}) &&
		ask(core.Op{Kind: frame.Resume})
	for sure && time.Now().Before(end) {
		time.Sleep(time.Duration(r.Int64N(int64(lease))))
		if !ask(core.Op{Kind: frame.Pause}) {
			return
		}
		from := time.Now()
		time.Sleep(time.Duration(r.Int64N(int64(2 * lease))))
		w.mu.Lock()
		w.paused[key] = append(w.paused[key], pause{from, time.Now()})
		w.mu.Unlock()
		sure = ask(core.Op{Kind: frame.Resume})
	}
}

// checkPauses checks that no attempt of a schedule has begun in a pause.
func (w *world) checkPauses(key string, all []*firing) {
	for _, f := range all {
		for _, p := range w.paused[key] {
			if f.at.After(p.from) && f.at.Before(p.to) && !f.over {
				w.wrong("paused: %q fires %v after its pause has begun, which is for %v", key, f.at.Sub(p.from), p.to.Sub(p.from))
			}
		}
	}
}
