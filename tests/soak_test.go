package tests

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// patience is how long to wait for a timer of which nothing more is heard
	// before it is called lost: it bounds a hang, not lateness.
	patience = 30 * time.Second
	// crowdOfGo is the largest burst where each callback gets a goroutine.
	crowdOfGo = 12_000
	// heapNoise is by how much the live heap may exceed that after the first
	// phase. It varies by some 300 kB: pools of the runtime, the arena chunk that a
	// shard keeps. To leak a word with each of the default run's million timers
	// is more.
	heapNoise = 2 << 20
)

var soakTime time.Duration

func init() {
	flag.Func("soak", "how long TestSoak runs; by default 3s, with -short 1s", func(s string) (err error) {
		if soakTime, err = time.ParseDuration(s); err != nil {
			return err
		}
		return allow(soakTime + 5*time.Minute)
	})
}

// allow raises the limit of the test binary. The go command's own is a tenth
// above that: a soak of more than ten minutes needs -timeout.
func allow(d time.Duration) error {
	limit := flag.Lookup("test.timeout").Value
	if set := limit.(flag.Getter).Get().(time.Duration); set == 0 || set >= d {
		return nil
	}
	return limit.Set(d.String())
}

func soaking() time.Duration {
	switch {
	case soakTime > 0:
		return soakTime
	case testing.Short():
		return time.Second
	}
	return 3 * time.Second
}

// TestSoak has wheels of all kinds under load on the real clock and keeps an
// account of every timer: none is lost, early or called twice, all counters
// agree with the account, and memory and goroutines stay what they were after
// the first phase. Longer: go test ./tests -run Soak -soak 10m
func TestSoak(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	warmUp(3 * crowdOfGo)
	s := &soak{t: t, faults: &faults{t: t}}
	for _, p := range plans() {
		s.old = append(s.old, s.sites(p)...)
	}
	start, first := time.Now(), int64(0)
	length := min(max(soaking()/4, 100*time.Millisecond), 2*time.Second)
	for s.phases = 0; s.phases < 2 || time.Since(start) < soaking(); s.phases++ {
		s.phase(length)
		s.settleGoroutines(goroutines + 1) // the clock's: wheels may be aimed at what was stopped since
		heap := liveHeap()
		if s.phases == 0 {
			first = heap
		}
		s.growth = max(s.growth, heap-first)
		require.LessOrEqual(t, heap-first, int64(heapNoise), "bytes of growth since the first phase, in phase %d", s.phases)
		if t.Failed() {
			break
		}
	}
	for _, site := range s.old {
		site.shutdown()
		site.judge(&s.total)
	}
	s.settleGoroutines(goroutines)
	t.Logf("%d phases, %v, at most %d kB more than after the first", s.phases, &s.total, s.growth/1000)
	s.total.mustCover(t)
}

// soak is one run of the test.
type soak struct {
	t      *testing.T
	faults *faults
	old    []site // wheels that live as long as the test
	phases int
	growth int64
	total  tally
}

// site is a wheel with its account.
type site interface {
	load(over func() bool) // works until over, in one of several goroutines
	burst()                // sets very many timers of one instant, or does nothing
	runOut()               // waits until nothing is pending or running
	shutdown()             // stops the wheel, with whatever is pending
	judge(sum *tally)      // settles the account and begins a new one
}

// phase is some load, after which everything runs out, or is dropped with the
// wheels that live for one phase only.
func (s *soak) phase(length time.Duration) {
	choice := plans()
	young := s.sites(choice[s.phases%len(choice)])
	all := append(young, s.old...)
	s.load(all, length)
	for _, site := range young {
		site.shutdown()
	}
	for _, site := range s.old {
		site.runOut()
	}
	for _, site := range all {
		site.judge(&s.total)
	}
}

func (s *soak) load(sites []site, length time.Duration) {
	end := time.Now().Add(length)
	over := func() bool { return time.Now().After(end) }
	var wg sync.WaitGroup
	for _, site := range sites {
		wg.Go(func() { site.load(over) })
		wg.Go(func() { site.load(over) })
	}
	for burst := true; burst; burst = !over() { // one at least
		sites[rand.IntN(len(sites))].burst()
		time.Sleep(length / 4)
	}
	wg.Wait()
}

// settleGoroutines waits until there are as few goroutines as there were.
func (s *soak) settleGoroutines(base int) {
	for end := time.Now().Add(patience); runtime.NumGoroutine() > base; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			require.LessOrEqual(s.t, runtime.NumGoroutine(), base, "%s", buf[:runtime.Stack(buf, true)])
		}
	}
}

// warmUp has n goroutines at once. The runtime keeps some 400 bytes of each for
// ever, which must not look like a leak when a burst needs them later.
func warmUp(n int) {
	var wg sync.WaitGroup
	release := make(chan bool)
	for range n {
		wg.Go(func() { <-release })
	}
	close(release)
	wg.Wait()
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
