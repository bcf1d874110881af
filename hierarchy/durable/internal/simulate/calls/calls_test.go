package calls

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
	"github.com/epicycle-go/epicycle/tests/long"
)

var histories, first = steps.Flags(long.Or(50, 2000))

func TestMain(m *testing.M) { leak.Main(m) }

// span is how long faults last.
const span = 5 * time.Minute

// Messages are lost, doubled, late by minutes and out of order; owners die, leave, and stand still while others take the
// log over; appends have no answers; clients are closed, and forgotten. A call that is answered is in the log, once, as the
// answer says. One that was not committed, as its error says, never is. One that was given up is committed before the
// next call of its client is answered, or never.
func TestHistoriesOfCalls(t *testing.T) {
	var total steps.Tally
	for i := range uint64(*histories) {
		seed := *first + i
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			defer steps.Watch(t.Name())()
			synctest.Test(t, func(t *testing.T) { total.Add(simulate(t, seed)) })
		})
	}
	t.Log(total)
}

func simulate(t *testing.T, seed uint64) steps.Tally {
	w := newWorld(t, seed)
	end := w.begun.Add(span)
	var wg sync.WaitGroup
	wg.Go(func() { w.ownInTurn(end) })
	wg.Go(func() { w.silence(end) })
	for n := range clients {
		w.connect(n)
		for asker := range w.askers {
			r := w.branch()
			wg.Go(func() { w.ask(n, asker, r, end) })
		}
		wg.Go(func() { w.disturb(n, end) })
	}
	wg.Wait()
	w.calm()
	w.close()
	w.judge()
	if len(w.wrongs) > 0 {
		require.Fail(t, "promises did not hold", "%s\n%s", strings.Join(w.wrongs[:min(20, len(w.wrongs))], "\n"), strings.Join(w.events, "\n"))
	}
	return steps.Tally{Histories: 1, Time: time.Since(w.begun), Operations: len(w.asked), Faults: len(w.events)}
}

// calm checks that calls succeed at once when there are no faults, also those of clients that were forgotten after a pause.
func (w *world) calm() {
	w.healed.Store(true)
	w.disk.Arrive()
	time.Sleep(20 * time.Second) // an append may have no answer yet
	w.disk.SetLarge(0)
	w.ownAgain()
	r := w.branch()
	for i := range 3 * clients {
		ctx, cancel := context.WithTimeout(context.Background(), giveUp)
		a := w.set(ctx, i%clients, fmt.Sprint("calm ", i), r)
		cancel()
		time.Sleep([]time.Duration{giveUp * 6 / 10, giveUp * 3 / 10}[i%2])
		if took := a.ended.Sub(a.begun); a.err != nil || took > 2*time.Second {
			w.wrong("calm: a call ends after %v: %v", took, a.err)
		}
	}
}
