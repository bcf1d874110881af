package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// giveUp is how long calls wait for an answer.
const giveUp = time.Minute

// asked is a call that is in progress.
type asked struct {
	p     *worker
	at    int
	begun time.Time
	limit time.Duration        // of its context
	sets  bool                 // it sets a timer, so that the owner remembers the process
	large bool                 // it has several operations
	first bool                 // it is the first one for a while
	owner *partition.Partition // in the same process, as the call begins, or nil
}

// asks begins a call of a process, with a context that ends after a time.
func (p *worker) asks(ctx context.Context, at int, limit time.Duration) (asked, context.Context, func()) {
	limited, cancel := context.WithTimeout(ctx, limit)
	a := asked{p: p, at: at, begun: time.Now(), limit: limit, first: p.isQuiet(at)}
	if p.cluster != nil {
		if a.owner, _ = p.cluster.Partition(at); a.owner != nil {
			p.seeEnd(a.owner)
		}
	}
	return a, limited, cancel
}

// ended checks that a call ends in time, and fails only with what says that nothing is known, or that its process ends.
func (a asked) ended(err error) {
	w, took, lost := a.p.w, time.Since(a.begun), a.hasLost()
	w.mu.Lock()
	defer w.mu.Unlock()
	if took > a.limit || took > giveUp+a.slack() {
		w.wrong("waits: a call takes %v, and its context is for %v: %v", took, a.limit, err)
	}
	switch {
	case err == nil:
		a.p.answered[a.at] = append(a.p.answered[a.at], answered{a.begun, time.Now(), a.sets && a.p.caller != nil})
	case !a.may(err, took, lost):
		w.wrong("error: a call ends after %v, with its context for %v: %v", took, a.limit, err)
	case saysOneOf(err, ownCall[:1]) && a.ownerEnded(prompt):
		w.wrong("waits: a call ends after %v, and its owner has ended long before: %v", took, err)
	case a.p.caller == nil && saysOneOf(err, ownCall[2:]) && !a.p.logs[a.at].sentSince(a.begun):
		w.wrong("error: a call ends after %v, though it was never sent: %v", took, err)
	case errors.Is(err, partition.ErrUnavailable) && took >= giveUp && a.passedOver():
		w.wrong("waits: a call was given up at %v, and younger ones were answered all the time: %v", time.Since(w.begun), err)
	}
}

// slack is by how much a call may outlast its minute. That of a call to a log in the same process counts from when its
// frame is sent; the frame before has had an answer, though not at once. Meanwhile the process may stand still.
func (a asked) slack() (d time.Duration) {
	if a.p.caller != nil {
		return 0
	}
	for _, h := range a.p.holdUps {
		if h.at == standstill && h.to.After(a.begun) {
			d += h.to.Sub(latest(h.from, a.begun))
		}
	}
	return d + lease/2
}

// hasLost reports whether the process does not own the partition any more that it owned as the call began.
func (a asked) hasLost() bool {
	if a.owner == nil {
		return true
	}
	_, err := a.owner.Time()
	return err != nil
}

// seeEnd records when an owner ends.
func (p *worker) seeEnd(owner *partition.Partition) {
	ended := new(atomic.Pointer[time.Time])
	if _, known := p.endings.LoadOrStore(owner, ended); !known {
		go func() {
			<-owner.Stopped()
			now := time.Now()
			ended.Store(&now)
		}()
	}
}

// ownerEnded reports whether the owner of a call has ended more than a time ago, and the process has not taken the partition
// over again. The lock is held.
func (a asked) ownerEnded(ago time.Duration) bool {
	if a.owner == nil {
		return false
	}
	for epoch, t := range a.p.w.takeovers[a.at] {
		if epoch > a.owner.Epoch() && t.by == a.p {
			return false
		}
	}
	end, _ := a.p.endings.Load(a.owner)
	ended := end.(*atomic.Pointer[time.Time]).Load()
	return ended != nil && time.Since(*ended) > ago
}

// may reports whether a call may end with an error after a time. lost is what hasLost returns.
func (a asked) may(err error, took time.Duration, lost bool) bool {
	switch {
	case a.p.left.Load():
		return errors.Is(err, partition.ErrUnavailable) || errors.Is(err, core.ErrClosed) || errors.Is(err, context.DeadlineExceeded)
	case err == context.DeadlineExceeded:
		return took >= a.limit
	case !errors.Is(err, partition.ErrUnavailable):
		return a.large && errors.Is(err, core.ErrTooLarge) && a.mayBeTooLarge()
	case took >= giveUp:
		return true
	case saysOneOf(err, tooLarge):
		return a.mayBeTooLarge()
	}
	if a.p.caller == nil && (lost && saysOneOf(err, ownCall) || a.p.logs[a.at].unanswered(giveUp)) { // then all calls end
		return true
	}
	return saysOneOf(err, forgotten) && a.mayBeForgotten(took)
}

// notCommitted reports whether an error says that a call was not committed.
func notCommitted(err error) bool {
	return errors.Is(err, core.ErrClosed) && !errors.Is(err, partition.ErrUnavailable)
}

// ownCall are the texts of errors of a call to the log of its own process, which nobody can try again once it has been
// sent and the process has lost the log.
var ownCall = []string{"the lease ended before the answer", "it was closed before the log answered", "the log has another owner"}

// tooLarge is that of a call in a frame or message that is too large for its log by now. A copy may have been committed before.
var tooLarge = []string{"too large", "larger than the log takes"}

// mayBeTooLarge reports whether the log has taken only small messages at some time since the call began.
func (a asked) mayBeTooLarge() bool { return a.p.w.small[a.at].until.Load() > a.begun.UnixNano() }

func saysOneOf(err error, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// answered is when a call to a partition has begun and ended.
type answered struct {
	begun, ended time.Time
	known        bool // the owner remembers the process since then
}

// passedOver reports whether younger calls of the same process to the same partition were answered again and again while
// this one was not, so that one of the copies that are sent each eight seconds should have had an answer, too.
func (a asked) passedOver() bool {
	times, last := 0, a.begun
	for _, b := range a.p.answered[a.at] {
		if b.begun.After(last) && time.Since(b.ended) > 9*time.Second {
			times++
			last = b.ended.Add(9 * time.Second)
		}
	}
	return times >= 5 // the connection may come and go just when copies are sent
}

// given is the longest that a call takes which meets a leaving process, unless a handler holds that process up.
const given = 900 * time.Millisecond

// askMeanwhile has a process call each partition again and again until stop, while others give it to each other. Owners
// remember that process, as it has called them before.
func (w *world) askMeanwhile(ctx context.Context) (stop func()) {
	var wg sync.WaitGroup
	var stopped atomic.Bool
	p := w.calling[w.chance.intN(callers)]
	for i := range 2 * partitions {
		chance := &chance{r: w.chance.branch()}
		ask := func() {
			begun := time.Now()
			_, err := do(ctx, p.api(), fmt.Sprint("nothing ", i%partitions), core.Op{Kind: frame.Remove})
			w.nothingFails(err)
			w.answeredIn(time.Since(begun))
		}
		ask()
		wg.Go(func() {
			for w.announces() && !stopped.Load() {
				ask()
				time.Sleep(chance.upTo(10 * time.Millisecond))
			}
		})
	}
	return func() {
		stopped.Store(true)
		wg.Wait()
	}
}

// answeredIn checks how long a call has taken.
func (w *world) answeredIn(took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if took > given {
		w.wrong("handover: a call takes %v, while a process leaves", took)
	}
}
