package simulate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// bearSilence lets a log of the only process that owns partitions not answer for more than a minute, so that there is
// nobody to whom the process could leave it. Calls are given up a minute after the first, also if the log answers once or
// twice in between, and later ones at once.
func (w *world) bearSilence(ctx context.Context, p *worker) {
	at := w.chance.intN(partitions)
	for begun := time.Now(); time.Since(begun) < 2*lease; time.Sleep(time.Second) {
		if _, shares := w.owned(); shares[0] == partitions {
			break
		}
	}
	// After calls to an earlier owner were given up, the process sends messages until one is answered, and each has a minute of
	// its own.
	_, err := do(ctx, p.api(), fmt.Sprint("nothing ", at), core.Op{Kind: frame.Remove})
	w.nothingFails(err)
	w.note(fmt.Sprint("log ", at, " is silent"))
	w.takesSmall(at, 450) // so each frame has one of these calls
	large := core.Op{Kind: frame.Set, Value: make([]byte, 200), In: 1000 * time.Hour}
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			a, limited, cancel := p.asks(ctx, at, 2*giveUp)
			defer cancel()
			_, err := do(limited, p.api(), fmt.Sprintf("silent %d %d", n, at), large)
			a.ended(err)
		})
	}
	time.Sleep(w.chance.upTo(20 * time.Millisecond))
	w.disks[at].SetSilent(true)
	for again, n := w.chance.upTo(giveUp/2), w.chance.intN(3); n > 0; again, n = again+prompt+w.chance.upTo(giveUp/4), n-1 {
		wg.Go(func() { // the calls of the other frames go on waiting
			time.Sleep(again)
			w.answerOnce(at)
		})
	}
	for n := range 4 {
		wg.Go(func() {
			time.Sleep(time.Duration(n) * 15 * time.Second)
			w.silentCall(ctx, p, at, false, giveUp-time.Duration(n)*15*time.Second+prompt)
		})
	}
	wg.Wait()
	w.silentCall(ctx, p, at, false, prompt)
	w.answersAgain(ctx, p, at)
}

// answersAgain checks that a silent log answers calls again, also if it falls silent once more after the first answer.
func (w *world) answersAgain(ctx context.Context, p *worker, at int) {
	w.takesAll(at)
	w.answerOnce(at)
	for begun := time.Now(); p.logs[at].unanswered(0) && time.Since(begun) < 2*prompt; {
		time.Sleep(time.Millisecond)
	}
	time.AfterFunc(lease, func() { w.disks[at].SetSilent(false) })
	w.silentCall(ctx, p, at, true, lease+2*prompt)
}

// answerOnce lets a silent log acknowledge one append.
func (w *world) answerOnce(at int) {
	w.once[at].Store(true)
	w.disks[at].SetSilent(false)
}

// silentCall checks that a call to a log is answered, or given up, within a time.
func (w *world) silentCall(ctx context.Context, p *worker, at int, answered bool, most time.Duration) {
	begun := time.Now()
	limited, cancel := context.WithTimeout(ctx, 2*giveUp)
	defer cancel()
	_, err := do(limited, p.api(), fmt.Sprint("silent ", at), core.Op{Kind: frame.Set, In: 1000 * time.Hour})
	w.mu.Lock()
	defer w.mu.Unlock()
	if took := time.Since(begun); took > most || (err == nil) != answered {
		w.wrong("silent: a call to a log that does not answer ends after %v, instead of %v: %v", took, most, err)
	}
}
