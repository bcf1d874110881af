package simulate

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// soon is the time within which all that was due has fired once there are no more faults: the lease of a dead process
// runs out, its partitions are taken over, and their logs read.
const soon = 8 * lease

// calm ends all faults, and checks what is promised then.
func (w *world) calm(ctx context.Context) {
	w.note("calm")
	w.heal()
	healed := time.Now()
	for w.pending(ctx) != "" {
		if time.Since(healed) > soon {
			key := w.pending(ctx)
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, f := range w.firings[key] {
				w.events = append(w.events, fmt.Sprintf("%v %+v", f.at.Sub(w.begun), *f))
			}
			require.Fail(w.t, "it is not over", "%s", key)
		}
		time.Sleep(time.Second)
	}
	w.healed.Store(true)
	time.Sleep(3 * lease) // what was sent before has arrived
	if w.forgets() && w.rounds == 0 {
		w.comeBack(ctx)
	}
	w.staysWhereItIs()
	w.beOnTime(ctx)
	w.askAtOnce(ctx)
	w.holdMessages(ctx)
	w.bearTrouble(ctx)
	w.electTable()
	w.bearNoTable(ctx)
	w.sharesEvenly()
	w.handOver(ctx)
	w.dieWhileGiving(ctx)
	w.beMute(ctx)
	w.checkCounts(ctx)
	w.checkAnnounced()
	w.checkGoroutines()
	w.checkMemory()
}

// heal ends all faults but those that come to pass all the time.
func (w *world) heal() {
	for at, d := range w.disks {
		w.slow[at].Store(false)
		w.elects[at].Store(false)
		w.takesAll(at)
		d.SetSilent(false)
		d.SetFull(false)
		d.Arrive()
	}
}

// staysWhereItIs checks that partitions stay where they are, and that runs go on.
func (w *world) staysWhereItIs() {
	w.mu.Lock()
	before := w.epochs
	w.mu.Unlock()
	time.Sleep(2 * lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epochs != before {
		w.wrong("unsettled: the owners %v become %v without a reason", before, w.epochs)
	}
	w.runsGoOn()
}

// sharesEvenly checks that each partition has one owner, and that the shares of processes are even once those have tried
// again that could not write to a log.
func (w *world) sharesEvenly() {
	for begun := time.Now(); ; time.Sleep(time.Second) {
		owners, shares := w.owned()
		even := slices.Min(shares) >= partitions/workers && slices.Max(shares) <= (partitions+workers-1)/workers
		if even && slices.Min(owners) == 1 && slices.Max(owners) == 1 {
			return
		}
		if time.Since(begun) > mostRest {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.wrong("shares: partitions have %v owners, and processes %v partitions", owners, shares)
			return
		}
	}
}

// mostRest is how long a process leaves a partition to others at most because it could not write to the log, with the time
// that it takes to get it back.
const mostRest = 19 * lease

// owned returns how many owners each partition has, and how many partitions each process.
func (w *world) owned() (owners, shares []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	owners, shares = make([]int, partitions), make([]int, len(w.living))
	for i, p := range w.living {
		for at := range partitions {
			if owner, _ := p.cluster.Partition(at); owner != nil {
				owners[at]++
				shares[i]++
			}
		}
	}
	return owners, shares
}

// punctual is how late a timer fires at most without faults: an owner's time may begin so much behind that of another
// one, and a partition may be handed off.
const punctual = 2*maxSkew + lease/2

// beOnTime checks that timers are on time without faults.
func (w *world) beOnTime(ctx context.Context) {
	w.rounds++
	at := time.Now()
	keys := w.setSome(ctx, "on time", func(int) time.Duration { return time.Second })
	time.Sleep(time.Second + prompt)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if len(w.firings[key]) == 0 {
			w.wrong("late: %q has not fired for %v", key, time.Since(at))
		}
	}
}

// askAtOnce asks for many operations at once in each partition. Some messages overtake others, and all are answered.
func (w *world) askAtOnce(ctx context.Context) {
	p := w.any(w.chance.branch()).api()
	var wg sync.WaitGroup
	for i := range 12 * partitions {
		wg.Go(func() {
			limited, cancel := context.WithTimeout(ctx, prompt)
			defer cancel()
			_, err := do(limited, p, fmt.Sprint("nothing ", i%partitions), core.Op{Kind: frame.Remove})
			w.nothingFails(err)
		})
	}
	wg.Wait()
}

// setSome sets some timers in each partition.
func (w *world) setSome(ctx context.Context, name string, in func(n int) time.Duration) (keys []string) {
	r := w.chance.branch()
	limited, cancel := context.WithTimeout(ctx, prompt)
	defer cancel()
	for i := range 4 * partitions {
		key := fmt.Sprintf("%s %d %d", name, w.rounds, i)
		_, err := do(limited, w.any(r).api(), key, core.Op{Kind: frame.Set, In: in(i)})
		require.NoError(w.t, err, "though nothing fails")
		keys = append(keys, key)
	}
	return keys
}

// prompt is how late an attempt begins at most while nothing holds its owner up.
const prompt = time.Second

// takeover is what is known of one.
type takeover struct {
	time int64     // of its frame, at least that of the frame before
	own  int64     // by the owner's clock, which may have to reach that first
	at   time.Time // when it was acknowledged
	by   *worker
}

// handOver lets one process after the other leave, whose clocks differ. No timer is late by that. Owners that have taken
// over before may have stood still since, or may be so far ahead that the next one does not go on from their time.
func (w *world) handOver(ctx context.Context) {
	r, patience := w.chance.branch(), w.patienceBefore()
	w.setSome(ctx, "token", func(n int) time.Duration { return patience + time.Duration(n)*time.Second })
	keys := w.setSome(ctx, "handed over", func(n int) time.Duration { return patience + time.Duration(n)*2*time.Second })
	p := w.anyWorker(r)
	given, begun := w.giveUpCalls(ctx, w.other(p), patience), time.Now()
	slow := w.runLong(ctx)
	for range 2 {
		p.leave()
		left := w.askMeanwhile(ctx)
		leaves, right := time.Now(), w.clockGoesOff(w.other(p))
		w.handsOver(ctx, p)
		require.NoError(w.t, p.cluster.Shutdown(ctx))
		w.leftInTime(time.Since(leaves))
		w.beganNothing(p, leaves.Add(prompt))
		left()
		p.close()
		time.Sleep(time.Second) // others have opened its partitions
		right()
		w.removeGivenUp(ctx, given)
		w.replace(ctx)
		given, p = nil, w.anyWorker(r)
		time.Sleep(lease)
	}
	time.Sleep(2 * lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ranOnce(slow)
	w.onTimeSince(keys, begun)
}

// onTimeSince checks that timers have begun on time by owners that have taken over since a time. The lock is held.
func (w *world) onTimeSince(keys []string, begun time.Time) {
	for _, key := range keys {
		if len(w.firings[key]) == 0 {
			w.wrong("late: %q has not fired", key)
			continue
		}
		f := w.firings[key][0]
		own, ok := w.takeovers[f.Partition][f.Epoch]
		if late := f.at.Sub(own.at) - time.Duration(max(0, f.Due-own.own)); ok && own.at.After(begun) && late > prompt {
			w.wrong("late: %q fires %v late by the log, at %v by the owner of takeover %d at %v, attempt %d, due %v after it",
				key, late, f.at.Sub(w.begun), f.Epoch, own.at.Sub(w.begun), f.Attempt, time.Duration(f.Due-own.own))
		}
	}
}

// mostGoroutines is how many there are at most when nothing happens: three workers and two callers have 66, and seeEnd has one
// for each partition.
const mostGoroutines = 75 + partitions

// checkGoroutines checks that processes that have ended, and faults that are over, leave nothing behind.
func (w *world) checkGoroutines() {
	if n := runtime.NumGoroutine(); n > mostGoroutines {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wrong("memory: there are %d goroutines", n)
	}
}
