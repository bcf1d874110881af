// Command simulate runs histories of simulated clusters, of members, of the cores of owners, of calls and of single
// appends, on all processors, until a time is over or a promise does not hold. Then it prints the seed and the history,
// shrunk where the seed determines it.
// Run it from the top of this module; it needs the go command.
//
//	go run ./simulate -for 8h
//	go run ./simulate -only clusters -histories 1000
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
)

// kind is a kind of histories: those of a test.
type kind struct {
	name, pkg, test string
	histories       uint64 // how many one process runs
}

var kinds = []kind{
	{"clusters", "./internal/simulate", "TestHistories", 30},
	{"members", "./internal/member", "TestHistoriesOfLeases", 40},
	{"cores", "./internal/simulate/cores", "TestHistories", 4000},
	{"calls", "./internal/simulate/calls", "TestHistoriesOfCalls", 200},
	{"appends", "./internal/storage", "TestHistoriesOfAppends", 40_000},
}

// turns are the kinds of one process after the other: most of the time is for clusters, which have most of the code.
var turns = []int{0, 2, 0, 1, 3, 4}

func main() {
	long := flag.Duration("for", time.Hour, "how long to simulate")
	seed := flag.Uint64("seed", uint64(time.Now().Unix())<<16, "the first seed; each history has the next one")
	histories := flag.Uint64("histories", math.MaxUint64, "how many histories to simulate")
	flag.Func("only", "simulate only clusters, members, cores, calls or appends", only)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *long)
	defer cancel()
	if err := run(ctx, *seed, *histories, time.Minute); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// only leaves out the other kinds.
func only(name string) error {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return errors.New("there is no such kind of histories")
	}
	turns = []int{i}
	return nil
}

// simulation runs processes, one for each processor.
type simulation struct {
	dir   string // has the programs
	begun time.Time
	left  uint64 // how many histories are to be begun; guarded by mu

	mu     sync.Mutex
	next   uint64 // the next seed
	turn   int    // counts processes
	counts map[string]*steps.Tally
	pairs  steps.Pairs
	broken error
}

// run simulates until ctx is done, a promise does not hold, or there were that many histories. It prints the sums at
// intervals.
func run(ctx context.Context, seed, histories uint64, every time.Duration) error {
	dir, err := os.MkdirTemp("", "simulate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &simulation{dir: dir, begun: time.Now(), left: histories, next: seed, counts: make(map[string]*steps.Tally)}
	if err := s.build(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for s.one(ctx) {
			}
			if s.isBroken() {
				cancel() // the others end, too
			}
		})
	}
	go func() {
		wg.Wait()
		cancel()
	}()
	for tick := time.Tick(every); ctx.Err() == nil; s.print() {
		select {
		case <-tick:
		case <-ctx.Done():
		}
	}
	wg.Wait()
	return s.broken
}

// build builds the tests of the kinds that have turns.
func (s *simulation) build(ctx context.Context) error {
	args := []string{"test", "-c", "-o", s.dir + "/"}
	for i, k := range kinds {
		if slices.Contains(turns, i) {
			args = append(args, k.pkg)
		}
	}
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the simulations: %w\n%s", err, out)
	}
	return nil
}

func (s *simulation) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken != nil
}

// draw returns what the next process simulates, if anything is left.
func (s *simulation) draw() (k kind, seed uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, seed = kinds[turns[s.turn%len(turns)]], s.next
	k.histories = min(k.histories, s.left)
	s.turn++
	s.next += k.histories
	s.left -= k.histories
	return k, seed, k.histories > 0
}

// one runs one process. It reports whether another one should follow.
func (s *simulation) one(ctx context.Context) bool {
	k, seed, ok := s.draw()
	if !ok {
		return false
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.dir, path.Base(k.pkg)+".test"), "-test.run", "^"+k.test+"$", "-test.v",
		"-test.failfast", "-test.timeout", "1h", "-seed", fmt.Sprint(seed), "-histories", fmt.Sprint(k.histories))
	// A history has many goroutines that live shortly: with these settings it takes seven eighths of the time.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400", "GODEBUG=adaptivestackstart=1")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && !s.add(k.name, out) {
		err = errors.New("it has no histories")
	}
	if err != nil {
		s.broken = errors.Join(s.broken, fmt.Errorf("%s, seeds %d to %d: %w\n%s", k.pkg, seed, seed+k.histories-1, err, relevant(out)))
		return false
	}
	return true
}

// add adds what a process has simulated. It reports false if that is nothing.
func (s *simulation) add(name string, out []byte) (any bool) {
	for line := range strings.Lines(string(out)) {
		if at := strings.Index(line, "pairs of "); at >= 0 {
			if p, ok := steps.ParsePairs(line[at:]); ok {
				s.pairs.Join(p)
			}
		}
		if at := strings.Index(line, "simulated "); at >= 0 {
			if t, ok := steps.ParseTally(line[at:]); ok {
				any = any || t.Histories > 0
				if s.counts[name] == nil {
					s.counts[name] = new(steps.Tally)
				}
				s.counts[name].Add(t)
			}
		}
	}
	return any
}

// relevant returns the output of a failed test without the tests that have passed.
func relevant(out []byte) []byte {
	var kept [][]byte
	for line := range bytes.Lines(out) {
		if text := bytes.TrimSpace(line); !bytes.HasPrefix(text, []byte("=== ")) && !bytes.HasPrefix(text, []byte("--- PASS")) {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, nil)
}

func (s *simulation) print() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf("after %v, seed %d:\n", time.Since(s.begun).Round(time.Second), s.next)
	for _, k := range kinds {
		if t := s.counts[k.name]; t != nil {
			fmt.Printf("  %-9s %9d histories, %7.0f virtual hours, %10d operations, %9d faults\n",
				k.name, t.Histories, t.Time.Hours(), t.Operations, t.Faults)
		}
	}
	if n, most := s.pairs.Counts(); n > 0 {
		fmt.Printf("  %d of %d pairs of a cluster's faults happened at the same time\n", n, most)
	}
}
