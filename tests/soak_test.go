package tests

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/long"
)

const (
	// patience is how long to wait before a timer that neither runs nor ends counts as
	// lost. It bounds a hang, not lateness.
	patience = 30 * time.Second
	// crowdOfGo is the largest burst if each callback runs in a goroutine of its own.
	crowdOfGo = 12_000
	// heapNoise limits how far the live heap may grow after the first phase. The heap varies because of
	// the runtime's pools, and because a shard keeps a chunk of its arena once it has had a burst. A leak of
	// one word for each of the default run's million timers is more than the limit.
	heapNoise = 2 << 20
)

var soakTime time.Duration

func init() {
	flag.Func("soak", "how long TestSoak runs; by default 3s, if EPICYCLE_LONG=1 is set", func(s string) (err error) {
		if soakTime, err = time.ParseDuration(s); err != nil {
			return err
		}
		return allow(soakTime + 5*time.Minute)
	})
}

// allow raises the time limit of the test binary. The go command has a limit of its own,
// a tenth above the binary's, so a soak of more than ten minutes needs -timeout.
func allow(d time.Duration) error {
	limit := flag.Lookup("test.timeout").Value
	if set := limit.(flag.Getter).Get().(time.Duration); set == 0 || set >= d {
		return nil
	}
	return limit.Set(d.String())
}

// TestSoak puts wheels of all kinds under load on the real clock and keeps an account of
// every timer. No timer is lost, early or called twice, all counters agree with the
// account, and memory and the number of goroutines do not grow after the first phase.
// For a longer run: go test ./tests -run Soak -soak 10m
func TestSoak(t *testing.T) {
	if soakTime == 0 {
		long.Only(t)
		soakTime = 3 * time.Second
	}
	goroutines := runtime.NumGoroutine()
	warmUp(8 * crowdOfGo) // six bursts, and whatever else runs beside them
	s := &soak{t: t, faults: &faults{t: t}}
	for _, p := range plans() {
		s.old = append(s.old, s.sites(p)...)
	}
	start, first := time.Now(), int64(0)
	length := min(max(soakTime/4, 100*time.Millisecond), 2*time.Second)
	for s.phases = 0; s.phases < 2 || time.Since(start) < soakTime; s.phases++ {
		s.phase(length)
		s.settleGoroutines(goroutines + 1) // one for the clock: alarms may still be set
		heap := liveHeap()
		if s.phases == 0 {
			first = heap
		}
		s.growth = max(s.growth, heap-first)
		require.LessOrEqual(t, heap-first, int64(heapNoise), "bytes of heap growth since the first phase, after phase %d", s.phases)
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
	old    []site // whose wheels live as long as the test
	phases int
	growth int64
	total  tally
}

// site is a wheel with its account.
type site interface {
	load(over func() bool) // makes calls until over; several goroutines run it
	burst()                // sets very many timers for one instant, or does nothing
	runOut()               // waits until nothing is pending or running
	shutdown()             // stops the wheel, which may have pending timers
	judge(sum *tally)      // checks the account and begins a new one
}

// phase puts load on all wheels. Then all timers run out, or are dropped if their wheel
// lives for one phase only.
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
	if s.phases == 0 {
		burstAll(sites)
	}
	for burst := true; burst; burst = !over() { // at least one
		sites[rand.IntN(len(sites))].burst()
		time.Sleep(length / 4)
	}
	wg.Wait()
}

// burstAll has each wheel use all its shards, before the heap is measured: they keep memory for later bursts.
func burstAll(sites []site) {
	for _, site := range sites {
		var wg sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) {
			wg.Go(site.burst)
		}
		wg.Wait()
	}
}

// settleGoroutines waits until there are at most base goroutines.
func (s *soak) settleGoroutines(base int) {
	for end := time.Now().Add(patience); runtime.NumGoroutine() > base; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			require.LessOrEqual(s.t, runtime.NumGoroutine(), base, "%s", buf[:runtime.Stack(buf, true)])
		}
	}
}

// warmUp runs n goroutines at the same time. The runtime keeps some 400 bytes for each
// for ever, which would look like a leak if a later burst were the first to need them.
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
