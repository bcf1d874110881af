package lane

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// check returns an error if an invariant of h does not hold.
func (h *Hosts) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	running, young, waitingIn := 0, 0, 0
	for name, at := range h.hosts {
		running += at.running
		young += at.young
		resting := at.running == 0 && at.waiting.len() == 0
		switch {
		case at.name != name || at.young > at.running || at.running > h.perHost:
			return fmt.Errorf("%s has %d calls, %d of them young", name, at.running, at.young)
		case at.state != answers && at.young > 1 && at.answered.IsZero():
			return fmt.Errorf("%s has %d young calls and does not answer", name, at.young)
		case at.line != h.lineOf(at):
			return fmt.Errorf("%s is in line %d instead of %d", name, at.line, h.lineOf(at))
		case resting != (at.line == none && at.element != nil) || resting && at.state == unseen:
			return fmt.Errorf("%s is not remembered as it should be", name)
		}
		if at.line != none {
			waitingIn++
		}
	}
	inLines := 0
	for l := range h.lines {
		inLines += h.lines[l].Len()
		if h.lines[l].Len() > 0 && h.hasRoom(line(l), time.Now()) && !h.stopped {
			return fmt.Errorf("there is room in line %d", l)
		}
	}
	switch {
	case running != h.prompt+h.slow || young != h.young.Len() || inLines != waitingIn:
		return fmt.Errorf("%d calls are %d and %d; %d young ones are %d; %d hosts in lines are %d",
			running, h.prompt, h.slow, young, h.young.Len(), inLines, waitingIn)
	case max(h.resting[answers].Len(), h.resting[hangs].Len()) > h.total:
		return fmt.Errorf("too many hosts are remembered")
	}
	return nil
}

// world has receivers in virtual time: how long a call of each host takes, and what it shows.
type world struct {
	*Hosts
	t         *testing.T
	mu        sync.Mutex
	receivers map[string]receiver
	begun     map[string][]time.Duration // by host: when its calls have begun
	running   map[string]int
	calls     int
	start     time.Time
	call      func(Due) // instead of that of the receivers, unless nil
}

type receiver func() (time.Duration, Outcome)

// timeout is that of all calls.
const timeout = 30 * time.Second

func silent() (time.Duration, Outcome) { return timeout, Silent }

func after(d time.Duration) receiver { return func() (time.Duration, Outcome) { return d, Answered } }

func newWorld(t *testing.T, perHost, total int) *world {
	w := &world{t: t, receivers: make(map[string]receiver), begun: make(map[string][]time.Duration), running: make(map[string]int), start: time.Now()}
	w.Hosts = NewHosts(perHost, total, NewGate(nil), w.run)
	return w
}

// run makes a call. Keys are those of host.
func (w *world) run(d Due) Outcome {
	if w.call != nil {
		w.mu.Lock()
		w.calls++
		w.mu.Unlock()
		w.call(d)
		return Answered
	}
	name, _, _ := cut(d.Key)
	w.mu.Lock()
	w.calls++
	w.running[name]++
	w.begun[name] = append(w.begun[name], time.Since(w.start))
	takes, outcome := w.receivers[name]()
	w.mu.Unlock()
	time.Sleep(takes)
	w.mu.Lock()
	w.running[name]--
	w.mu.Unlock()
	return outcome
}

func cut(key string) (name, number string, ok bool) {
	for i := range key {
		if key[i] == '/' {
			return key[:i], key[i+1:], true
		}
	}
	return key, "", false
}

// is sets what the receiver of a host does.
func (w *world) is(name string, r receiver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receivers[name] = r
}

// push adds n timers for a host.
func (w *world) push(name string, n int) {
	for i := range n {
		w.Push(name, due(fmt.Sprintf("%s/%d at %v", name, i, time.Since(w.start)), 0))
	}
}

// many has n hosts that are like r, each with timers.
func (w *world) many(kind string, n int, r receiver, timers int) {
	for i := range n {
		name := fmt.Sprint(kind, i)
		w.is(name, r)
		w.push(name, timers)
	}
}

// runs returns the number of calls of a host that run.
func (w *world) runs(name string) int {
	synctest.Wait()
	require.NoError(w.t, w.check())
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[name]
}

// begins returns how long it takes until a timer's call begins.
func (w *world) begins(name string) time.Duration {
	synctest.Wait()
	w.mu.Lock()
	before := len(w.begun[name])
	w.mu.Unlock()
	from := time.Since(w.start)
	w.push(name, 1)
	for ; ; time.Sleep(time.Millisecond) {
		synctest.Wait()
		require.NoError(w.t, w.check())
		w.mu.Lock()
		begun := w.begun[name]
		w.mu.Unlock()
		if len(begun) > before {
			return begun[before] - from
		}
		require.Less(w.t, time.Since(w.start)-from, time.Hour)
	}
}

// locked calls f while no call begins or ends.
func (w *world) locked(f func()) {
	w.Hosts.mu.Lock()
	defer w.Hosts.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// ends lets everything end.
func (w *world) ends() {
	stopped := w.Stop()
	<-stopped
	require.NoError(w.t, w.check())
	w.gate.Stop()
}

func inWorld(t *testing.T, perHost, total int, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, perHost, total)
		defer w.ends()
		f(w)
	})
}

// A host that answers has one call until its first answer, and then as many as it may have.
func TestHostAnswers(t *testing.T) {
	inWorld(t, 3, 100, func(w *world) {
		w.is("a", after(500*time.Millisecond))
		w.push("a", 20)
		require.Equal(t, 1, w.runs("a"))
		time.Sleep(500 * time.Millisecond)
		require.Equal(t, 3, w.runs("a"))
		f := w.Figures()
		require.Equal(t, Figures{Running: 3, Waiting: 16}, f)
		time.Sleep(time.Hour)
		require.Zero(t, w.runs("a"))
		w.locked(func() { require.Equal(t, 20, w.calls) })
		w.push("a", 20)
		require.Equal(t, 3, w.runs("a"), "it is remembered")
	})
}

// Hosts that hang hold up none that answers: neither one that has answered before, nor one of which nothing is known, nor
// at the moment when all of them begin to hang.
func TestHangingHostsHoldUpNoOther(t *testing.T) {
	for _, n := range []int{300, 5000} {
		inWorld(t, 16, 4096, func(w *world) {
			w.is("known", after(5*time.Millisecond))
			w.is("new", after(5*time.Millisecond))
			require.Zero(t, w.begins("known"))
			time.Sleep(time.Second)
			w.many("hangs", n, silent, 20)
			require.Zero(t, w.begins("known"))
			require.LessOrEqual(t, w.begins("new"), time.Duration(n-paceBurst+1)*paceEvery)
			for i := range 30 {
				time.Sleep(time.Second)
				require.Zero(t, w.begins("known"))
				require.Zero(t, w.begins("new"))
				if f := w.Figures(); i == n/1000 {
					require.Equal(t, n, f.Hanging)
					require.NotZero(t, f.Held)
					require.Equal(t, f.Waiting, f.Held)
				}
			}
			w.is("newer", after(time.Millisecond))
			require.LessOrEqual(t, w.begins("newer"), paceEvery)
		})
	}
}

// Hosts that have always answered and then hang all at once, with all their calls, hold up no other either.
func TestAllHang(t *testing.T) {
	inWorld(t, 16, 1024, func(w *world) {
		w.is("known", after(5*time.Millisecond))
		w.is("new", after(5*time.Millisecond))
		require.Zero(t, w.begins("known"))
		w.many("hangs", 1000, after(time.Millisecond), 1)
		time.Sleep(time.Second)
		w.many("hangs", 1000, silent, 20)
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			require.Zero(t, w.begins("known"))
		}
		w.push("known", 16)
		require.Equal(t, 16, w.runs("known"), "it shares the places that the others had")
		require.LessOrEqual(t, w.Figures().Running, 1024+2*1024+1000+1)
	})
}

// A host that hangs gets its full share back with its first answer, and what was due meanwhile comes then.
func TestHostRecovers(t *testing.T) {
	inWorld(t, 16, 100, func(w *world) {
		w.is("a", after(time.Millisecond))
		require.Zero(t, w.begins("a"))
		time.Sleep(time.Second)
		w.is("a", silent)
		w.push("a", 16)
		time.Sleep(patience)
		require.Equal(t, 16, w.runs("a"))
		require.Equal(t, 1, w.Figures().Hanging)
		w.push("a", 100)
		time.Sleep(timeout)
		require.Equal(t, 1, w.Figures().Hanging)
		require.NotZero(t, w.runs("a"))
		w.is("a", after(100*time.Millisecond))
		time.Sleep(patience) // until another call begins
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, 16, w.runs("a"))
		require.Zero(t, w.Figures().Hanging)
		time.Sleep(time.Minute)
		w.locked(func() { require.Equal(t, 117, w.calls) })
	})
}

// A host whose calls take hours has as many of them as another one, if one more each second.
func TestSlowHost(t *testing.T) {
	inWorld(t, 16, 100, func(w *world) {
		w.is("slow", after(time.Hour))
		w.push("slow", 100)
		for n := range 20 {
			require.Equal(t, min(n+1, 16), w.runs("slow"))
			time.Sleep(patience)
		}
		time.Sleep(time.Hour)
		require.Equal(t, 16, w.runs("slow"))
	})
}

// A host that answers, but not all its requests, keeps its share.
func TestHostHangsNowAndThen(t *testing.T) {
	inWorld(t, 4, 100, func(w *world) {
		n := 0
		w.is("a", func() (time.Duration, Outcome) {
			if n++; n%10 == 0 {
				return timeout, Silent
			}
			return 50 * time.Millisecond, Answered
		})
		w.push("a", 1000)
		time.Sleep(50 * time.Millisecond)
		for w.Figures().Waiting > 0 {
			require.Equal(t, 4, w.runs("a"))
			time.Sleep(50 * time.Millisecond)
		}
	})
}

// Where more hosts hang than there are places, those that were not seen before are held up by none of them.
func TestUnseenBeforeHanging(t *testing.T) {
	inWorld(t, 16, 4, func(w *world) {
		w.many("hangs", 100, silent, 50)
		time.Sleep(10 * time.Minute)
		require.Equal(t, 100, w.Figures().Hanging)
		for i := range 10 {
			name := fmt.Sprint("new", i)
			w.is(name, after(time.Millisecond))
			require.LessOrEqual(t, w.begins(name), paceEvery)
			time.Sleep(time.Minute)
			require.Zero(t, w.begins(name))
			require.Positive(t, w.Crowded())
		}
		w.is("hangs0", after(time.Millisecond))
		time.Sleep(10 * time.Minute)
		require.Zero(t, w.begins("hangs0"), "it has had its turn")
	})
}

// Even where all places are taken, each host that answers has one.
func TestOwnPlace(t *testing.T) {
	inWorld(t, 16, 1, func(w *world) {
		w.many("busy", 10, after(900*time.Millisecond), 100)
		w.is("a", after(time.Millisecond))
		for range 10 {
			w.begins("a")
			time.Sleep(time.Second)
		}
		for range 10 {
			require.Zero(t, w.begins("a"))
			time.Sleep(time.Second)
		}
	})
}

// A timeout shorter than a second, and a host that can't be reached, are silence, too, unless another call had an answer
// meanwhile. A timer that was removed says nothing.
func TestOutcomes(t *testing.T) {
	inWorld(t, 16, 100, func(w *world) {
		short := func() (time.Duration, Outcome) { return 20 * time.Millisecond, Silent }
		w.is("quick", short)
		w.push("quick", 10)
		time.Sleep(30 * time.Millisecond)
		require.Equal(t, Figures{Running: 1, Waiting: 8, Hanging: 1, Held: 8}, w.Figures())
		time.Sleep(time.Minute)
		w.is("quick", after(time.Millisecond))
		w.push("quick", 1)
		time.Sleep(time.Second)
		w.is("quick", short)
		w.push("quick", 1)
		time.Sleep(10 * time.Millisecond)
		w.is("quick", after(time.Millisecond))
		w.push("quick", 1)
		time.Sleep(time.Second)
		w.is("quick", after(time.Minute))
		w.push("quick", 16)
		require.Equal(t, 16, w.runs("quick"))

		w.is("removed", func() (time.Duration, Outcome) { return 0, Unknown })
		w.push("removed", 1000)
		time.Sleep(time.Second)
		require.Zero(t, w.runs("removed"))
		w.locked(func() {
			require.Len(t, w.begun["removed"], 1000)
			require.NotContains(t, w.hosts, "removed")
		})
	})
}

// Calls to hosts that do not answer begin at a pace.
func TestPace(t *testing.T) {
	inWorld(t, 16, 4096, func(w *world) {
		w.many("hangs", 300, silent, 1)
		synctest.Wait()
		w.locked(func() { require.Equal(t, paceBurst, w.calls) })
		for n := paceBurst; n < 300; n++ {
			time.Sleep(paceEvery - 1)
			synctest.Wait()
			w.locked(func() { require.Equal(t, n, w.calls) })
			require.Zero(t, w.Crowded())
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			w.locked(func() { require.Equal(t, n+1, w.calls) })
		}
		time.Sleep(time.Second)
		w.many("others", paceBurst, silent, 1)
		synctest.Wait()
		w.locked(func() { require.Equal(t, 300+paceBurst, w.calls) })
	})
}

// A call that the pace holds up begins, however fast the clock goes on while others begin.
func TestPaceWhileTheClockGoesOn(t *testing.T) {
	inWorld(t, 16, 4096, func(w *world) {
		start := time.Now()
		w.now = func() time.Time { start = start.Add(paceEvery / 5); return start }
		for i := range 100 {
			name := fmt.Sprint("hangs", i)
			w.is(name, silent)
			w.push(name, 1)
			time.Sleep(5 * paceEvery) // less than patience, after which what waits is looked at again
			synctest.Wait()
			w.locked(func() { require.Equal(t, i+1, w.calls) })
		}
	})
}

// No more hosts are remembered than there are places. Those that hang make none forgotten that answers.
func TestRemembered(t *testing.T) {
	inWorld(t, 1, 3, func(w *world) {
		for i := range 3 {
			name := fmt.Sprint("a", i)
			w.is(name, after(0))
			require.Zero(t, w.begins(name))
		}
		w.many("hangs", 10, func() (time.Duration, Outcome) { return 0, Silent }, 1)
		synctest.Wait()
		w.locked(func() {
			require.Len(t, w.hosts, 6)
			for i := range 3 {
				require.Contains(t, w.hosts, fmt.Sprint("a", i))
			}
		})
		require.Zero(t, w.begins("a0"))
		w.is("b", after(0))
		require.Zero(t, w.begins("b"))
		synctest.Wait()
		w.locked(func() {
			require.NotContains(t, w.hosts, "a1", "it was in use before the others")
			require.Contains(t, w.hosts, "a0")
		})
	})
}

// A timer that was removed while it waited is neither called nor counted, and its host is forgotten, or remembered as
// before.
func TestHostsForget(t *testing.T) {
	inWorld(t, 1, 100, func(w *world) {
		w.is("a", after(time.Minute))
		remove := func(name, key string) {
			w.Remove(name, key, durable.ID{})
			require.NoError(t, w.check())
		}
		w.Push("a", due("a/1", 1))
		w.Push("a", due("a/2", 2))
		require.Equal(t, 1, w.runs("a"))
		remove("a", "a/2")
		remove("other", "other/1")
		require.Equal(t, Figures{Running: 1}, w.Figures())
		time.Sleep(time.Hour)
		w.locked(func() { require.Equal(t, 1, w.calls) })
		remove("a", "a/1")
		w.is("a", silent)
		w.Push("a", due("a/3", 3))
		require.Equal(t, 1, w.runs("a"))

		for i := range 2 * paceBurst {
			name := fmt.Sprint("new", i)
			w.is(name, silent)
			w.Push(name, due(name+"/1", 1))
		}
		for i := range 2 * paceBurst {
			name := fmt.Sprint("new", i)
			remove(name, name+"/1")
		}
		require.Zero(t, w.Figures().Waiting)
		time.Sleep(time.Minute)
		w.locked(func() { require.Less(t, w.calls, 2*paceBurst) })
	})
}

// After Stop nothing begins, and its channel is closed when what runs has ended.
func TestHostsStop(t *testing.T) {
	inWorld(t, 2, 10, func(w *world) {
		w.is("a", after(0))
		require.Zero(t, w.begins("a"))
		w.is("a", after(time.Minute))
		w.push("a", 10)
		require.Equal(t, 2, w.runs("a"))
		stopped := w.Stop()
		time.Sleep(time.Minute - 1)
		require.Equal(t, 2, w.runs("a"))
		select {
		case <-stopped:
			t.Error("calls are running")
		default:
		}
		<-stopped
		require.Equal(t, Figures{Waiting: 8}, w.Figures())
	})
}

// Whatever hosts do, each timer has one call, within the limits.
func TestHostsAtRandom(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		perHost, total := 1+random.IntN(4), 1+random.IntN(8)
		inWorld(t, perHost, total, func(w *world) {
			pushed := 0
			for range 500 {
				name := fmt.Sprint("h", random.IntN(20))
				takes, outcome := time.Duration(random.IntN(2000))*time.Millisecond, Outcome(random.IntN(3))
				w.is(name, func() (time.Duration, Outcome) { return takes, outcome })
				n := random.IntN(5)
				w.push(name, n)
				pushed += n
				require.LessOrEqual(t, w.runs(name), perHost)
				w.locked(func() { require.LessOrEqual(t, w.prompt, total+len(w.hosts)) })
				time.Sleep(1 + time.Duration(random.IntN(100))*time.Millisecond)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			require.NoError(t, w.check())
			w.locked(func() { require.Equal(t, pushed, w.calls) })
			require.Zero(t, w.Figures().Running+w.Figures().Waiting)
		})
	}
}
