package compat_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

// history is what happens to a timer, in ticks. At tick begin it is set to fire after set
// ticks. When elapsed ticks have passed, it is moved to fire after move ticks. If again is
// true, it is moved by setting it again.
type history struct {
	begin, set, elapsed, move int
	again                     bool
}

func (h history) moved() int { return h.begin + h.elapsed }
func (h history) due() int   { return h.moved() + h.move }

// do sets or moves the timer if h says so for that tick.
func (h history) do(t *testing.T, w *compat.TimingWheel, tick int) {
	if tick == h.begin {
		require.NoError(t, w.SetTimer(h, 1, time.Duration(h.set)*interval))
	}
	if tick == h.moved() && h.again {
		require.NoError(t, w.SetTimer(h, 2, time.Duration(h.move)*interval))
	} else if tick == h.moved() {
		require.NoError(t, w.MoveTimer(h, time.Duration(h.move)*interval))
	}
}

// histories returns all histories with delays of up to three turns of a ring.
func histories(slots int) (all []history) {
	for set := 1; set <= 3*slots; set++ {
		for elapsed := range set {
			for move := 1; move <= 3*slots; move++ {
				all = append(all, history{0, set, elapsed, move, false}, history{0, set, elapsed, move, true})
			}
		}
	}
	return all
}

// requireExact runs all histories on one wheel, and checks at which tick each task runs.
func requireExact(t *testing.T, slots int, all []history) {
	ticker, now := newFakeTicker(), 0
	var runs [][2]any // history, and tick
	mu := make(chan struct{}, 1)
	w := newTickerWheel(t, slots, func(key, _ any) {
		mu <- struct{}{}
		runs = append(runs, [2]any{key, now})
		<-mu
	}, ticker)
	defer w.Stop()
	byTick := make(map[int][]history)
	due := make(map[int]int)
	last := 0
	for _, h := range all {
		byTick[h.begin] = append(byTick[h.begin], h)
		if h.elapsed > 0 {
			byTick[h.moved()] = append(byTick[h.moved()], h)
		}
		due[h.due()]++
		last = max(last, h.due())
	}
	for now = 0; now <= last+3*slots; now++ { // continues after the last task, because a task might run twice
		if now > 0 {
			ticker.tick()
			settle()
		}
		for _, run := range runs {
			if run[0].(history).due() != now {
				t.Fatalf("%d slots: %+v ran at tick %v", slots, run[0], run[1])
			}
		}
		if len(runs) != due[now] {
			t.Fatalf("%d slots: %d of %d ran at tick %d", slots, len(runs), due[now], now)
		}
		runs = nil
		for _, h := range byTick[now] {
			h.do(t, w, now)
		}
	}
}

// Each history has a wheel of its own, so the alarm is aimed at its timer alone.
func TestEachHistoryAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, h := range histories(3) {
			requireExact(t, 3, []history{h})
		}
	})
}

func TestAllHistoriesTogether(t *testing.T) {
	for _, slots := range []int{3, 10} {
		synctest.Test(t, func(t *testing.T) { requireExact(t, slots, histories(slots)) })
	}
}

func TestRandomHistories(t *testing.T) {
	const slots = 300
	r := rand.New(rand.NewPCG(1, 2))
	unique := make(map[history]bool)
	for len(unique) < 10_000 {
		set := 1 + r.IntN(3*slots)
		unique[history{r.IntN(slots), set, r.IntN(set), 1 + r.IntN(3*slots), r.IntN(2) == 0}] = true
	}
	all := make([]history, 0, len(unique))
	for h := range unique {
		all = append(all, h)
	}
	synctest.Test(t, func(t *testing.T) { requireExact(t, slots, all) })
}
