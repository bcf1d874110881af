package simulate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Owners forget processes that have not called them for a while. Calls fail by that only if they were in flight for so
// long, or others before them.

// forgotten are those of calls that were in flight when it turned out that their process was forgotten.
var forgotten = []string{core.ErrOld.Error(), core.ErrPassed.Error()}

// mayBeForgotten reports whether the owner may have forgotten a process whose call has taken a time, though it calls all
// the time: no timer that it has set lately was acknowledged. What an owner does in its own process is not remembered.
// Before its first call for a while, a process asks for the time of the log, and has half of remembered then. An owner whose
// process has stood still is behind, and so is the log until the next takeover.
func (a asked) mayBeForgotten(took time.Duration) bool {
	w := a.p.w
	behind := w.stood + 2*maxSkew
	lately := func(b answered) bool { return b.known && time.Since(b.begun)+behind < remembered }
	return w.forgets() && (!a.first || took+behind >= remembered/2) && !slices.ContainsFunc(a.p.answered[a.at], lately)
}

// calls are those of a process to a partition. The world's mutex guards them.
type calls struct {
	n     int       // in progress
	ended time.Time // the last one
}

// quiet is the time after which a process has no message in flight, of a call that was given up, and asks for the time of
// the log before its next call.
const quiet = giveUp + 10*time.Second

// isQuiet reports whether a process has not called the owner of a partition for a while.
func (p *worker) isQuiet(at int) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.calls[at].n == 0 && time.Since(p.calls[at].ended) > quiet
}

// counted counts calls.
type counted struct {
	shared
	p *worker
}

func (c counted) Do(ctx context.Context, at int, call *core.Call) error {
	c.counts(at, 1)
	defer c.counts(at, -1)
	return c.shared.Do(ctx, at, call)
}

func (c counted) counts(at, n int) {
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	c.p.calls[at].n += n
	c.p.calls[at].ended = time.Now()
}

// comeBack lets a process that only calls stand still until it is forgotten. The network loses what it sends first after
// that, and its calls succeed.
func (w *world) comeBack(ctx context.Context) {
	p := w.calling[w.chance.intN(callers)]
	ask := func() {
		var wg sync.WaitGroup
		defer wg.Wait()
		for at := range partitions {
			wg.Go(func() {
				_, err := do(ctx, p.api(), fmt.Sprint("nothing ", at), core.Op{Kind: frame.Remove})
				w.nothingFails(err)
			})
		}
	}
	ask()
	p.pause(remembered + 5*time.Second)
	p.bus.Cut(true, false)
	time.AfterFunc(500*time.Millisecond, func() { p.bus.Cut(false, false) })
	ask()
}
