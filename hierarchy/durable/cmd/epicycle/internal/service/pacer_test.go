package service

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

var paceScope = limits.Scope{Kind: limits.Queue, Name: "q"}

// pacing is a pacer in virtual time, and what it does.
type pacing struct {
	*pacer
	limit limits.Limit
	owns  bool
	told  int
	begin time.Time
	log   []string
}

func inPacing(t *testing.T, l limits.Limit, f func(p *pacing)) {
	synctest.Test(t, func(*testing.T) {
		p := &pacing{limit: l, owns: true, begin: time.Now()}
		p.pacer = newPacer("self", func(limits.Scope) bool { return p.owns }, func(limits.Scope) limits.Limit { return p.limit }, func(s limits.Scope) {
			p.told++
			go p.pacer.hold(s, "self", 0)
		})
		defer p.close()
		f(p)
	})
}

// set changes what the pacer asks for.
func (p *pacing) set(owns bool, l limits.Limit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owns, p.limit = owns, l
}

// ask has a server ask, and logs the answer.
func (p *pacing) ask(server string, want, held int) bool {
	return p.pacer.ask(paceScope, server, want, held, func(n int) {
		p.log = append(p.log, fmt.Sprintf("%v %s %d", time.Since(p.begin), server, n))
	})
}

func (p *pacing) after(t *testing.T, d time.Duration, want ...string) {
	t.Helper()
	time.Sleep(d)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Equal(t, want, p.log)
	p.log = nil
}

// A new pacer waits until it has heard what the servers hold, and then lets as many attempts begin as there may be besides.
func TestPacerAtOnce(t *testing.T) {
	inPacing(t, limits.Limit{AtOnce: 5}, func(p *pacing) {
		require.True(t, p.ask("a", 3, 1))
		require.Equal(t, 1, p.told)
		p.hold(paceScope, "b", 2)
		p.ask("c", 9, 0)
		p.after(t, tellTime-1)
		p.after(t, 1, "250ms a 2")
		p.end(paceScope, "b", 1)
		p.after(t, 0, "250ms c 1")
		p.ask("c", 9, 1)
		p.after(t, questionTime-1)
		p.after(t, 1, "1.25s c 0")
		p.ask("a", 1, 3)
		p.ask("b", 1, 1)
		p.end(paceScope, "none", 5)
		p.end(paceScope, "c", 7)
		p.after(t, 0, "1.25s a 1")
		p.after(t, questionTime, "2.25s b 0")
		require.Equal(t, 1, p.told)
	})
}

// A server that is not heard holds nothing after a while, and one whose answer was lost holds what it says.
func TestPacerForgets(t *testing.T) {
	inPacing(t, limits.Limit{AtOnce: 2}, func(p *pacing) {
		p.ask("a", 2, 0)
		p.after(t, tellTime, "250ms a 2")
		for range 3 {
			p.ask("b", 1, 0)
			time.Sleep(askEvery)
		}
		p.after(t, 0, "1.25s b 0", "6.25s b 0", "11.25s b 0")
		p.ask("b", 1, 0)
		p.after(t, 0, "15.25s b 1")
		p.ask("b", 1, 0) // it had no answer
		p.ask("b", 2, 0) // nor to this one
		p.after(t, 0, "15.25s b 1", "15.25s b 2")
	})
}

// Attempts of all servers together begin at the rate, each server in its turn.
func TestPacerRate(t *testing.T) {
	inPacing(t, limits.Limit{Rate: 4}, func(p *pacing) {
		p.ask("a", 2, 0)
		p.ask("b", 2, 0)
		p.after(t, tellTime, "250ms a 1")
		p.ask("a", 1, 1)
		p.after(t, 250*time.Millisecond, "500ms b 1")
		p.after(t, 250*time.Millisecond, "750ms a 1")
		p.ask("c", 1, 0)
		p.set(true, limits.Limit{Rate: 4, Paused: true})
		p.after(t, questionTime, "1.75s c 0")
		p.set(true, limits.Limit{})
		require.False(t, p.ask("c", 1, 0), "nobody has to ask any more")
		require.Empty(t, p.paced)
	})
}

// A server that lost its partition answers nothing, and begins anew if it gets it back.
func TestPacerLosesItsPartition(t *testing.T) {
	inPacing(t, limits.Limit{AtOnce: 1}, func(p *pacing) {
		p.set(false, p.limit)
		require.False(t, p.ask("a", 1, 0))
		p.set(true, p.limit)
		require.True(t, p.ask("a", 1, 0))
		p.set(false, p.limit)
		p.after(t, time.Hour)
		p.set(true, p.limit)
		require.True(t, p.ask("a", 1, 0))
		require.Equal(t, 2, p.told)
		p.after(t, tellTime, "1h0m0.25s a 1")
	})
}

// Whatever servers ask for, hold and end, no more attempts are made at once than there may be.
func TestPacerAtRandom(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		most := 1 + random.IntN(6)
		inPacing(t, limits.Limit{AtOnce: most, Rate: 50}, func(p *pacing) {
			held := make(map[string]int)
			asking := make(map[string]bool)
			granted := 0
			for range 2000 {
				server := fmt.Sprint(random.IntN(4))
				p.mu.Lock() // answers come with it held
				holds, ends, asks := held[server], held[server] > 0 && random.IntN(2) == 0, !asking[server]
				if ends {
					held[server]--
				} else {
					asking[server] = true
				}
				p.mu.Unlock()
				switch {
				case ends:
					p.end(paceScope, server, 1)
				case asks:
					p.pacer.ask(paceScope, server, 1+random.IntN(3), holds, func(n int) {
						held[server] += n
						granted += n
						asking[server] = false
					})
				}
				time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
				synctest.Wait()
				p.mu.Lock()
				sum := 0
				for _, n := range held {
					sum += n
				}
				p.mu.Unlock()
				require.LessOrEqual(t, sum, most)
			}
			require.Greater(t, granted, 100)
			require.LessOrEqual(t, granted, 2+int(50*time.Since(p.begin).Seconds()))
		})
	}
}
