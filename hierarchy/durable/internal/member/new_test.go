package member

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// worker is a process that does what the plan says.
type worker struct {
	*process
	ended chan bool
}

// work has a process join that shares eight partitions. unable are those that it can't take.
func (w *world) work(id ID, unable ...int) *worker {
	k := &worker{w.process(id), make(chan bool)}
	k.cfg.Partitions, k.cfg.Unable = 8, unable
	k.begin()
	go k.run()
	synctest.Wait()
	return k
}

func (k *worker) run() {
	defer close(k.ended)
	for {
		v := k.View()
		for at, to := range v.Plan() {
			switch c := v.Claims[at]; {
			case to == k.ID() && c.Free:
				_ = k.Claim(k.w.Context(), at) // else another has it
			case to != k.ID() && to != 0 && c.Holder == k.ID():
				_ = k.Give(k.w.Context(), at, to) // else the lease is lost
			}
		}
		select {
		case <-k.Changed():
		case <-k.Lost():
			return
		}
	}
}

// die ends a worker without a word.
func (k *worker) die() {
	k.store.Cut(true)
	k.Stop()
	<-k.ended
}

func (k *worker) owns() (n int) {
	for at := range k.cfg.Partitions {
		if k.Owns(at) {
			n++
		}
	}
	return n
}

// share checks how many partitions each of the workers owns.
func (w *world) share(want []int, workers ...*worker) {
	w.Helper()
	synctest.Wait()
	var is []int
	for _, k := range workers {
		is = append(is, k.owns())
	}
	require.Equal(w, want, is)
}

func since(w *world, d time.Duration) { time.Sleep(d); synctest.Wait() }

// A worker that dies soon after each start takes nothing from those that live, however often it comes and also
// if its last renewals are late. One that lives has an even share then.
func TestCrashLoop(t *testing.T) {
	for _, every := range []time.Duration{testLease / 5, testLease / 2, testLease, 2 * testLease} {
		for _, lives := range []time.Duration{testLease / 20, every / 2, newTime(testLease) - 1} {
			if lives >= min(every, newTime(testLease)) {
				continue
			}
			t.Run(fmt.Sprint(every, lives), func(t *testing.T) {
				inWorld(t, func(w *world) {
					a, b := w.work(1), w.work(2)
					since(w, testLease)
					holders := a.View().Holders()
					w.share([]int{4, 4}, a, b)
					for id := ID(3); id < 23; id++ {
						c := w.work(id)
						since(w, lives)
						c.die()
						require.Equal(w, holders, a.View().Holders())
						since(w, every-lives)
						w.share([]int{4, 4}, a, b)
					}
					c := w.work(23)
					since(w, newTime(testLease)+testLease/2) // those that died are gone, too
					w.share([]int{3, 3, 2}, a, b, c)
				})
			})
		}
	}
}

// Those that begin together share at once, and nothing moves when they are not new any more.
func TestBeginTogether(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.work(1)
		w.share([]int{8}, a)
		since(w, testLease/10)
		b := w.work(2)
		w.share([]int{4, 4}, a, b)
		since(w, testLease/10)
		c := w.work(3)
		w.share([]int{3, 3, 2}, a, b, c)
		holders := a.View().Holders()
		for range 30 {
			since(w, testLease/10)
			require.Equal(w, holders, a.View().Holders())
		}
	})
}

// One that joins others has its share after three renewals, and what nobody else can take at once.
func TestNewMember(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.work(1, 2, 7)
		since(w, testLease)
		w.share([]int{6}, a)
		b := w.work(2)
		w.share([]int{6, 2}, a, b)
		since(w, newTime(testLease)-1)
		w.share([]int{6, 2}, a, b)
		since(w, 1)
		w.share([]int{4, 4}, a, b)
	})
}

// When all workers are replaced, one after the other, each partition has an owner before the next one goes, also
// if none of those that stay has lived for long.
func TestReplaceAll(t *testing.T) {
	for _, pause := range []time.Duration{testLease / 20, testLease / 2, 2 * testLease} {
		t.Run(fmt.Sprint(pause), func(t *testing.T) {
			inWorld(t, func(w *world) {
				all := []*worker{w.work(1), w.work(2), w.work(3)}
				since(w, 2*testLease)
				for id := ID(4); id < 13; id++ {
					all = append(all, w.work(id))
					since(w, pause)
					old := all[0]
					all = all[1:]
					require.NoError(w, old.Leave(w.Context()))
					synctest.Wait()
					require.Zero(w, old.owns())
					n := 0
					for _, k := range all {
						n += k.owns()
					}
					require.Equal(w, 8, n)
					require.NoError(w, old.Resign(w.Context()))
				}
				since(w, 2*testLease)
				w.share([]int{3, 3, 2}, all...)
			})
		})
	}
}

// Workers that were all killed take over from the dead when these are gone, new or not.
func TestAllWereKilled(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.work(1), w.work(2)
		since(w, 2*testLease)
		a.die()
		b.die()
		c := w.work(3)
		since(w, testLease/2)
		d := w.work(4)
		w.share([]int{0, 0}, c, d)
		since(w, waited(testLease)-testLease/2)
		w.share([]int{8, 0}, c, d) // d has to wait
		since(w, testLease)
		w.share([]int{4, 4}, c, d)
	})
}
